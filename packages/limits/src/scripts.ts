import { createHash } from "node:crypto"

// All scripts go by the store's clock: the replicas' own may differ. Every key has an expiry.

const script = (source: string) => ({ source, sha: createHash("sha1").update(source).digest("hex") })

export type Script = ReturnType<typeof script>

/**
 * Decides about many requests one after the other, as if each had come alone. Each key is read and written once.
 *
 * KEYS: the buckets and pools. ARGV: how many places are given back; each as {key's number, place}; how many places are
 * renewed; each as {key's number, place, lease in ms}; then the requests, each as
 * {how many buckets, (key's number, limit)…, how many pools, (key's number, limit)…} and, if it has pools, {place, lease in ms}.
 *
 * A request counts against all its buckets or none, and takes a place in all its pools or in none: in none when its buckets
 * refused it. Its answer is {allowed, remaining, retry after s, reset s} of the bucket that refused or of the first, and the
 * number of the pool that is full or 0. All answers stand in one list, in the order asked.
 *
 * A bucket is a string: its total, then (second, count) pairs, oldest first. A second leaves the window only when all of it is
 * over 60 s old, as in window.ts. A pool is a sorted set from place to the end of its lease. Buckets are written first: a
 * store that is full refuses that before anything is counted.
 */
export const decideScript = script(`
local time = redis.call('TIME')
local second = tonumber(time[1])
local now = second * 1000 + math.floor(tonumber(time[2]) / 1000)
local unpack2 = struct.unpack
local at, answers, size = 1, {}, 0
local function next_number()
  at = at + 1
  return tonumber(ARGV[at - 1])
end
local function answer(value)
  size = size + 1
  answers[size] = value
end

local buckets = {}
local function bucket_of(number)
  local bucket = buckets[number]
  if bucket then return bucket end
  local text = redis.call('GET', KEYS[number])
  bucket = {text = text, total = 0, from = 5, last = second, count = 0, added = 0}
  buckets[number] = bucket
  if not text then return bucket end
  bucket.total = unpack2('>I4', text)
  bucket.last, bucket.count = unpack2('>I4I4', text, #text - 7)
  -- A clock that was set back: its own later seconds count on, unless they are beyond belief.
  if bucket.last > second + 60 then
    bucket.text, bucket.total, bucket.last, bucket.count = false, 0, second, 0
    return bucket
  end
  local latest = math.max(second, bucket.last)
  while bucket.from < #text do
    local old, count = unpack2('>I4I4', text, bucket.from)
    if old > latest - 61 then break end
    bucket.total = bucket.total - count
    bucket.from = bucket.from + 8
  end
  if bucket.from > #text then bucket.text, bucket.last, bucket.count = false, second, 0 end
  return bucket
end
local function seconds_until(moment)
  return math.max(1, math.ceil((moment * 1000 - now) / 1000))
end
local function reset_of(bucket)
  if bucket.total == 0 then return 0 end
  if not bucket.text then return seconds_until(second + 61) end
  return seconds_until(unpack2('>I4', bucket.text, bucket.from) + 61)
end
local function leaves(bucket, wanted)
  local gone = 0
  for from = bucket.from, bucket.text and #bucket.text or 0, 8 do
    local old, count = unpack2('>I4I4', bucket.text, from)
    gone = gone + count
    if gone >= wanted then return seconds_until(old + 61) end
  end
  return seconds_until(second + 61)
end

local given = {}
for _ = 1, next_number() do
  local number = next_number()
  local places = given[number]
  if not places then places = {}; given[number] = places end
  places[#places + 1] = ARGV[at]
  at = at + 1
end
for number, places in pairs(given) do redis.call('ZREM', KEYS[number], unpack(places)) end

local renewed = {}
for i = 1, next_number() do
  local number = next_number()
  renewed[i] = {KEYS[number], ARGV[at], tonumber(ARGV[at + 1])}
  at = at + 2
end

local pools = {}
local function pool_of(number)
  local pool = pools[number]
  if pool then return pool end
  redis.call('ZREMRANGEBYSCORE', KEYS[number], '-inf', now)
  pool = {inside = redis.call('ZCARD', KEYS[number]), lease = 0, added = {}}
  pools[number] = pool
  return pool
end

while at <= #ARGV do
  local wanted, first, refused = {}, nil, nil
  for i = 1, next_number() do
    local number, limit = next_number(), next_number()
    if not refused then
      local bucket = bucket_of(number)
      if bucket.total >= limit then
        local retry = limit <= 0 and 60 or leaves(bucket, bucket.total - limit + 1)
        refused = {0, math.max(0, limit - bucket.total), retry, reset_of(bucket)}
      else
        wanted[i] = bucket
        if i == 1 then first = {limit, bucket} end
      end
    end
  end
  if not refused then
    for _, bucket in ipairs(wanted) do
      bucket.total = bucket.total + 1
      bucket.added = bucket.added + 1
    end
  end
  local decision = refused or (first and {1, first[1] - first[2].total, 0, reset_of(first[2])}) or {1, 0, 0, 0}
  for i = 1, 4 do answer(decision[i]) end

  local full, inside = 0, {}
  local count = next_number()
  for i = 1, count do
    local number, limit = next_number(), next_number()
    if not refused then
      local pool = pool_of(number)
      if full == 0 and pool.inside >= limit then full = i end
      inside[i] = pool
    end
  end
  if count > 0 then
    local place, lease = ARGV[at], tonumber(ARGV[at + 1])
    at = at + 2
    if full == 0 then
      for _, pool in ipairs(inside) do
        pool.inside = pool.inside + 1
        pool.lease = math.max(pool.lease, lease)
        pool.added[#pool.added + 1] = now + lease
        pool.added[#pool.added + 1] = place
      end
    end
  end
  answer(full)
end

for number, bucket in pairs(buckets) do
  if bucket.added > 0 then
    local kept = bucket.text and string.sub(bucket.text, bucket.from) or ''
    local latest, count = second, bucket.added
    if kept ~= '' and bucket.last >= second then
      kept = string.sub(kept, 1, -9)
      latest, count = bucket.last, count + bucket.count
    end
    redis.call('SET', KEYS[number], struct.pack('>I4', bucket.total) .. kept .. struct.pack('>I4I4', latest, count), 'PX', 62000)
  end
end
for number, pool in pairs(pools) do
  if pool.lease > 0 then
    redis.call('ZADD', KEYS[number], unpack(pool.added))
    if redis.call('PTTL', KEYS[number]) < pool.lease then redis.call('PEXPIRE', KEYS[number], pool.lease) end
  end
end
for _, place in ipairs(renewed) do
  redis.call('ZADD', place[1], now + place[3], place[2])
  if redis.call('PTTL', place[1]) < place[3] then redis.call('PEXPIRE', place[1], place[3]) end
end
return answers
`)

/** KEYS: the replicas of a service. ARGV: this one's id, 1 to stay or 0 to leave. Returns how many announced themselves in 9 s. */
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

export const allScripts: readonly Script[] = [decideScript, announceScript]
