import { describe, expect, test } from "vitest"
import { databaseKinds, testService } from "./service.ts"

describe.each(databaseKinds)("while the database on %s reads and can store nothing", (kind) => {
  const service = testService(kind)

  const query = (text: string) => service.database().query(text, [])
  const health = async () => {
    const { status, body } = await service.call("GET", "/health")
    return [status, body.status, body.database]
  }

  test("writes are 503, reads go on, and health says degraded until a write succeeds", async () => {
    const { key } = await service.signUp()
    expect(await health()).toEqual([200, "ok", "ok"])
    // What PostgreSQL says when a table can't grow.
    await query(
      `create function full_disk() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
    )
    await query("create trigger full_disk before insert on api_keys execute function full_disk()")
    expect(await service.code("POST", "/api/agents/signup")).toBe("service-unavailable")
    expect(await service.code("POST", "/api/agents/me/keys", { key, body: {} })).toBe("service-unavailable")
    expect((await service.call("GET", "/api/agents/me", { key })).status).toBe(200)
    expect(await health()).toEqual([503, "degraded", "unavailable"])
    expect((await service.call("GET", "/livez")).status).toBe(200)
    await query("drop trigger full_disk on api_keys")
    expect(await health()).toEqual([503, "degraded", "unavailable"])
    expect((await service.call("POST", "/api/agents/me/keys", { key, body: {} })).status).toBe(201)
    expect(await health()).toEqual([200, "ok", "ok"])
  })

  test("nobody writing for five minutes says nothing of the disk any more", async () => {
    await query("create trigger full_disk before insert on api_keys execute function full_disk()")
    expect(await service.code("POST", "/api/agents/signup")).toBe("service-unavailable")
    expect(await health()).toEqual([503, "degraded", "unavailable"])
    service.clock.offsetMs += 300_000
    expect(await health()).toEqual([200, "ok", "ok"])
  })
})
