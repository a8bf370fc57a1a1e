// All scripts go by the store's clock: the replicas' own may differ. Every key has an expiry.

/**
 * Counts a request against all its buckets or none, and takes a place in all its pools or in none: in none if a bucket is full.
 *
 * KEYS: the buckets, then the pools. ARGV: how many buckets, the limit of each bucket and pool, the place's name, its lease in ms.
 * Returns {allowed, remaining, retry after s, reset s} of the bucket that refused or of the first, and the number of the pool
 * that is full or 0.
 *
 * A bucket is a string of (second, count) pairs, oldest first. A second leaves the window only when all of it is over 60 s old,
 * as in window.ts. A pool is a sorted set from place to the end of its lease. Buckets are written first: a store that is full
 * rejects that before anything is counted.
 */
export const decideScript = `
local time = redis.call('TIME')
local second = tonumber(time[1])
local now = second * 1000 + math.floor(tonumber(time[2]) / 1000)
local buckets = tonumber(ARGV[1])

-- The counts of the last 60 s, and their sum.
local function read(key)
  local counts = redis.call('GET', key) or ''
  local latest = #counts > 0 and math.max(second, (struct.unpack('>I4', counts, #counts - 7))) or second
  -- After the clock was set back, later seconds still count, unless they are beyond belief.
  if latest > second + 60 then return '', 0 end
  local first, total = 1, 0
  for at = 1, #counts, 8 do
    local old, count = struct.unpack('>I4I4', counts, at)
    if old < latest - 60 then first = at + 8 else total = total + count end
  end
  return string.sub(counts, first), total
end

-- The seconds until at least this many of the counted requests have left the window.
local function seconds_until(gone, counts)
  for at = 1, #counts, 8 do
    local old, count = struct.unpack('>I4I4', counts, at)
    gone = gone - count
    if gone <= 0 then return math.max(1, math.ceil(old + 61 - now / 1000)) end
  end
  return 0
end

local function count_one(counts)
  local latest, count = second, 0
  if #counts > 0 then
    local last, counted = struct.unpack('>I4I4', counts, #counts - 7)
    if last >= second then counts, latest, count = string.sub(counts, 1, -9), last, counted end
  end
  return counts .. struct.pack('>I4I4', latest, count + 1)
end

local counted, answer = {}, {1, 0, 0, 0, 0}
for i = 1, buckets do
  local counts, total = read(KEYS[i])
  local limit = tonumber(ARGV[i + 1])
  if total >= limit then
    local retry = limit <= 0 and 60 or seconds_until(total - limit + 1, counts)
    return {0, math.max(0, limit - total), retry, seconds_until(1, counts), 0}
  end
  counted[i] = count_one(counts)
  if i == 1 then answer = {1, limit - total - 1, 0, seconds_until(1, counted[1]), 0} end
end
for i = 1, buckets do redis.call('SET', KEYS[i], counted[i], 'PX', 62000) end

for i = buckets + 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  if answer[5] == 0 and redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[i + 1]) then answer[5] = i - buckets end
end
if answer[5] == 0 then
  for i = buckets + 1, #KEYS do
    local place, lease = ARGV[#ARGV - 1], tonumber(ARGV[#ARGV])
    redis.call('ZADD', KEYS[i], now + lease, place)
    if redis.call('PTTL', KEYS[i]) < lease then redis.call('PEXPIRE', KEYS[i], lease) end
  end
end
return answer
`

/** KEYS: pools. ARGV: a place's name. */
export const releaseScript = `
for i = 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
return {}
`

/** KEYS: the replicas of a service. ARGV: this one's id, 1 to stay or 0 to leave. Returns how many announced themselves in 9 s. */
export const announceScript = `
local now = tonumber(redis.call('TIME')[1])
if ARGV[2] == '1' then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('EXPIRE', KEYS[1], 60)
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 9)
return {redis.call('ZCARD', KEYS[1])}
`
