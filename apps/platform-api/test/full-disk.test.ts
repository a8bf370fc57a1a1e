import { describe, expect, test } from "vitest"
import { databaseKinds, testService } from "./service.ts"

describe.each(databaseKinds)("while the database on %s can read but not write", (kind) => {
  const service = testService(kind)

  const query = (text: string) => service.database().query(text, [])
  const health = async () => {
    const { status, body } = await service.call("GET", "/health")
    return [status, body.status, body.database]
  }

  // What PostgreSQL says when a table can't grow, or the role may only read.
  test.each([
    ["53100", "api_keys"],
    ["42501", "audit_log"],
  ])("writes are 503, reads work, and health is degraded until a write succeeds: %s of %s", async (code, table) => {
    const { key } = await service.signUp()
    expect(await health()).toEqual([200, "ok", "ok"])
    await query(
      `create or replace function full_disk() returns trigger language plpgsql as $$ begin
        raise exception 'it can not be stored' using errcode = '${code}'; end $$`,
    )
    await query(`create trigger full_disk before insert on ${table} execute function full_disk()`)
    expect(await service.code("POST", "/api/agents/signup")).toBe("service-unavailable")
    expect(await health()).toEqual([503, "degraded", "unavailable"])
    expect(await service.code("POST", "/api/agents/me/keys", { key, body: {} })).toBe("service-unavailable")
    expect((await service.call("GET", "/api/agents/me", { key })).status).toBe(200)
    expect(await health()).toEqual([503, "degraded", "unavailable"])
    expect((await service.call("GET", "/livez")).status).toBe(200)
    await query(`drop trigger full_disk on ${table}`)
    expect(await health()).toEqual([503, "degraded", "unavailable"])
    expect((await service.call("POST", "/api/agents/me/keys", { key, body: {} })).status).toBe(201)
    expect(await health()).toEqual([200, "ok", "ok"])
  })

  test("after five minutes without writes, health no longer reports the disk", async () => {
    await query("create trigger full_disk before insert on api_keys execute function full_disk()")
    expect(await service.code("POST", "/api/agents/signup")).toBe("service-unavailable")
    expect(await health()).toEqual([503, "degraded", "unavailable"])
    service.clock.offsetMs += 300_000
    expect(await health()).toEqual([200, "ok", "ok"])
  })
})
