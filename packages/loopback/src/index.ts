export { isLoopback, loopbackNames } from "./loopback.ts"
