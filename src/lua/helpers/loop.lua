-- models.loop: rounds over a message list, until the model answers with text (spec M39 to M44).
local type, globals, append, check, prepare, ask, returned, perform = ...

-- The request is too large: the compactor says how the loop ends.
local function overflow(compact, reason)
  compact(reason)
  returned()
end

-- Runs the calls of a reply one after another: the records of the whole batch.
local function perform_all(calls, batch)
  local records = { { role = 'assistant', content = '', tool_calls = calls } }
  for i = 1, #calls do
    records[i + 1] = { role = 'tool', content = perform(batch, i), tool_call_id = calls[i].id }
  end
  return records
end

local function notes(notices)
  local records = {}
  for i = 1, #notices do records[i] = { role = 'user', content = notices[i] } end
  return records
end

return { run = function(...)
  check(...)
  local handle, list, compact = ...
  if type(handle) ~= 'userdata' then handle, list, compact = nil, handle, list end
  if compact == nil then compact = globals.compactors.fail end
  local count, answered = 0, false
  while true do
    count = count + 1
    local round, notices = prepare(handle, list, count)
    if round then
      append(list, notes(notices))
      local kind, reply, batch = ask(round, answered)
      if kind == 'text' then
        append(list, { { role = 'assistant', content = reply } })
        return nil
      elseif kind == 'calls' then
        append(list, perform_all(reply, batch))
        answered = true
      else
        overflow(compact, 'provider')
      end
    else
      overflow(compact, 'precheck')
    end
  end
end }
