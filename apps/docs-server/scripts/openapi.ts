import { createApp, type Dependencies } from "../src/app.ts"

/** The OpenAPI document of the routes. Nothing of the dependencies is used before a request comes. */
export const document: unknown = createApp({ config: {} } as Dependencies).document("http://localhost:4001")
