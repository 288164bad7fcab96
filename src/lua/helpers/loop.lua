-- models.loop: rounds over a message list, until the model answers with text (spec M39 to M44).
local type, globals, append, check, prepare, ask, returned, perform = ...

-- The request is too large: the compactor says how the loop ends.
local function overflow(compact, reason)
  compact(reason)
  returned()
end

-- Runs the calls of a reply one after another, then appends the whole batch.
local function perform_all(list, calls, batch)
  local results = {}
  for i = 1, #calls do results[i] = perform(batch, i) end
  append(list, { role = 'assistant', content = '', tool_calls = calls })
  for i = 1, #calls do
    append(list, { role = 'tool', content = results[i], tool_call_id = calls[i].id })
  end
end

return { run = function(...)
  check(...)
  local handle, list, compact = ...
  if type(handle) ~= 'userdata' then handle, list, compact = nil, handle, list end
  if compact == nil then compact = globals.compactors.fail end
  local round, answered = 0, false
  while true do
    round = round + 1
    local notices = prepare(handle, list, round)
    if notices then
      for i = 1, #notices do append(list, { role = 'user', content = notices[i] }) end
      local kind, reply, batch = ask(answered)
      if kind == 'text' then
        append(list, { role = 'assistant', content = reply })
        return nil
      elseif kind == 'calls' then
        perform_all(list, reply, batch)
        answered = true
      else
        overflow(compact, 'provider')
      end
    else
      overflow(compact, 'precheck')
    end
  end
end }
