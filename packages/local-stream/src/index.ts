export { startService as startLocalStream } from "./service.ts"
