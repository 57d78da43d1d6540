-- Sends events that nobody else sends: ADS_KEY=... ADS_BATCH=100 wrk -t1 -c64 -d10s -s bin/events.lua http://127.0.0.1:8080/v1/events

local batch = tonumber(os.getenv("ADS_BATCH") or "1")
local number = 0
wrk.method = "POST"
wrk.headers["Host"] = "api.localhost"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. assert(os.getenv("ADS_KEY"), "ADS_KEY is needed")

function init()
  math.randomseed(os.time())
  run = string.format("%08x-%04x-7000-8000", math.random(0, 0x7fffffff), math.random(0, 0xffff))
end

function request()
  local events = {}
  for i = 1, batch do
    number = number + 1
    events[i] = string.format('{"id":"%s-%012x","kind":"%s","campaign":%d,"creative":%d}',
      run, number, number % 50 == 0 and "click" or "impression", number % 100 + 1, number % 300 + 1)
  end
  return wrk.format(nil, nil, nil, '{"events":[' .. table.concat(events, ",") .. "]}")
end
