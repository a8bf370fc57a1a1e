import { afterAll } from "vitest"
import { startServer, type Received, type Reply } from "./server.ts"
import { makeTool } from "./tool.ts"

/** The tool and a server for it to call, until the file's tests are done. */
export const startToolAndServer = async (answer: (request: Received) => Reply | Promise<Reply>) => {
  const [tool, server] = await Promise.all([makeTool(), startServer(answer)])
  afterAll(async () => {
    await server.close()
    await tool.remove()
  })
  return { tool, server }
}
