-- Runs in each section of a prompt that declares the Pack, before its first block.
glossary = {}

-- What a word means. A word that is not in the glossary is an error of kind 'tool'.
function glossary.define(word)
  return tools.call('glossary/define', { word = word })
end
