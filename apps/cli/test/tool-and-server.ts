import { afterAll } from "vitest"
import { type Answer, startServer } from "./server.ts"
import { makeTool } from "./tool.ts"

/** The tool and a server for it to call, until the file's tests are done. */
export const startToolAndServer = async (answer: Answer) => {
  const [tool, server] = await Promise.all([makeTool(), startServer(answer)])
  afterAll(async () => {
    await server.close()
    await tool.remove()
  })
  return { tool, server }
}
