import { readFileSync } from "node:fs"
import { join } from "node:path"
import { postJson } from "@svc/testing"
import { z } from "zod"
import { createPerson } from "../scripts/running/operate.ts"

const app = join(import.meta.dirname, "../apps/platform-api")

/**
 * Makes a person's account by the operator's command, and has a stack of theirs built and deployed: work for the platform's jobs.
 * @param env the platform's DATABASE_URL and SVC_DATA_DIR
 */
export const publishStack = async (
  platform: string,
  env: Readonly<Record<string, string>>,
  name: string,
): Promise<{ readonly key: string; readonly specId: number; readonly runId: number }> => {
  const key = await createPerson(env, `${name}@example.org`)
  const post = async (path: string, body: object): Promise<number> => {
    const answer = await postJson(`${platform}${path}`, body, { authorization: `Bearer ${key}` })
    return z.object({ id: z.int() }).parse(await answer.json()).id
  }
  const ast: unknown = JSON.parse(readFileSync(join(app, "stacks/transfers.stack.json"), "utf8"))
  const websocket_url = `wss://streams.example.org/${name}`
  const specId = await post("/api/specs", { name, visibility: "public", websocket_url, ast_payload: ast })
  return { key, specId, runId: await post("/api/automation/runs", { workflow: "publish", spec_id: specId }) }
}
