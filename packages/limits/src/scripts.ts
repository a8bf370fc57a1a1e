import { createHash } from "node:crypto"

// All scripts go by the store's clock: the replicas' own may differ. Every key has an expiry.

const script = (source: string) => ({ source, sha: createHash("sha1").update(source).digest("hex") })

export type Script = ReturnType<typeof script>

/**
 * KEYS: a hash a bucket, from second to count. ARGV: their limits.
 * Counts one request against all or none. Answers {allowed, remaining, retry after s, reset s}, of the bucket that refused
 * or of the first. A second leaves the window only when all of it is over 60 s old, as in limiter.ts.
 */
export const takeScript = script(`
local time = redis.call('TIME')
local cell = tonumber(time[1])
local now = cell * 1000 + math.floor(tonumber(time[2]) / 1000)
local first
for i, key in ipairs(KEYS) do
  local limit = tonumber(ARGV[i])
  local flat = redis.call('HGETALL', key)
  local seconds, counts, total, oldest = {}, {}, 0, cell
  for j = 1, #flat, 2 do
    local second = tonumber(flat[j])
    if second <= cell - 61 or second > cell + 1 then
      redis.call('HDEL', key, flat[j])
    else
      seconds[#seconds + 1] = second
      counts[second] = tonumber(flat[j + 1])
      total = total + counts[second]
      if second < oldest then oldest = second end
    end
  end
  local reset = math.max(1, math.ceil(((oldest + 61) * 1000 - now) / 1000))
  local function leaves(count)
    table.sort(seconds)
    local gone = 0
    for _, second in ipairs(seconds) do
      gone = gone + counts[second]
      if gone >= count then return math.max(1, math.ceil(((second + 61) * 1000 - now) / 1000)) end
    end
    return 60
  end
  if total >= limit then
    local retry = limit <= 0 and 60 or leaves(total - limit + 1)
    return {0, math.max(0, limit - total), retry, total == 0 and 0 or reset}
  end
  if i == 1 then first = {1, limit - total - 1, 0, reset} end
end
for _, key in ipairs(KEYS) do
  redis.call('HINCRBY', key, cell, 1)
  redis.call('PEXPIRE', key, 62000)
end
return first
`)

/**
 * KEYS: a sorted set a pool, from place to the end of its lease. ARGV: the place's id, the lease in ms, the limits.
 * Takes a place in all pools or in none. Answers 0, or the number of the pool that is full.
 */
export const enterScript = script(`
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[i + 2]) then return i end
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + tonumber(ARGV[2]), ARGV[1])
  if redis.call('PTTL', key) < tonumber(ARGV[2]) then redis.call('PEXPIRE', key, ARGV[2]) end
end
return 0
`)

/** KEYS: a pool. ARGV: places of it. Gives them back. */
export const leaveScript = script(`return redis.call('ZREM', KEYS[1], unpack(ARGV))`)

/** KEYS: the replicas of a service. ARGV: this one's id, 1 to stay or 0 to leave. Answers how many were heard of in 9 s. */
export const announceScript = script(`
local now = tonumber(redis.call('TIME')[1])
if ARGV[2] == '1' then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('EXPIRE', KEYS[1], 60)
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 9)
return redis.call('ZCARD', KEYS[1])
`)

export const allScripts: readonly Script[] = [takeScript, enterScript, leaveScript, announceScript]
