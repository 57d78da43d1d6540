-- The request that wrk repeats comes from the environment; the figures leave as one line of JSON.
-- BENCH_BODY: file to POST (GET without). BENCH_CLOSE: ask for the connection to be closed.

local body = os.getenv("BENCH_BODY")
if body then
  local file = assert(io.open(body, "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  wrk.headers["Content-Type"] = wrk.headers["Content-Type"] or "application/octet-stream"
  file:close()
end
if os.getenv("BENCH_CLOSE") then
  wrk.headers["Connection"] = "close"
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"seconds":%.6f,"p50_us":%d,"p99_us":%d,"max_us":%d,"received_bytes":%d,"errors":' ..
    '{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50), latency:percentile(99), latency.max, summary.bytes,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
