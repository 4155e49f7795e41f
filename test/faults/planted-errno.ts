/**
 * Has system calls of a real program fail, in all its threads; loaded before the program. While
 * `planted.json` lies beside the data folder, each call of the kind that it names fails with its code, and is
 * noted in `planted.log`.
 */
import { ChildProcess } from 'node:child_process'
import dgram from 'node:dgram'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import net from 'node:net'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'

export type PlantedCall =
  | 'net.connect'
  | 'net.listen'
  | 'net.accept'
  | 'net.write'
  | 'net.read'
  | 'dgram.bind'
  | 'dgram.connect'
  | 'dgram.send'
  | 'spawn'

export interface PlantedErrno {
  call: PlantedCall
  code: keyof typeof constants.errno
  /** Only the call with this number fails, counted from 0 in each thread; each one if it is left out. */
  nth?: number
}

const folder = dirname(process.env.MAILHORN_DATA_DIR ?? '/')

let callCount = 0

/** @returns the error that a call has to fail with now */
function planted(call: PlantedCall): NodeJS.ErrnoException | undefined {
  const file = join(folder, 'planted.json')
  if (!existsSync(file)) return undefined
  const { call: wanted, code, nth } = JSON.parse(readFileSync(file, 'utf8')) as PlantedErrno
  if (wanted !== call) return undefined
  if (nth !== undefined && nth !== callCount++) return undefined
  appendFileSync(join(folder, 'planted.log'), `${call} ${code}\n`)
  return Object.assign(new Error(`${call} ${code} (planted)`), {
    code,
    errno: -constants.errno[code],
    syscall: call.split('.').at(-1),
  })
}

/** Replaces a method. @param fail does what the runtime does when the system call fails */
function replace<T extends object>(
  prototype: T,
  name: keyof T,
  call: PlantedCall,
  fail: (self: never, error: NodeJS.ErrnoException, args: unknown[]) => unknown,
) {
  const original = prototype[name] as (...args: unknown[]) => unknown
  const method = function (this: never, ...args: unknown[]) {
    const error = planted(call)
    return error ? fail(this, error, args) : Reflect.apply(original, this, args)
  }
  Object.assign(prototype, { [name]: method })
}

const destroyed = (socket: net.Socket, error: Error) => {
  process.nextTick(() => socket.destroy(error))
  return socket
}
/** A callback that is given gets the error in place of the event. */
const reported = (socket: dgram.Socket, error: Error, args: unknown[]) => {
  const callback = args.at(-1)
  process.nextTick(() =>
    typeof callback === 'function' ? callback.call(socket, error) : socket.emit('error', error),
  )
  return socket
}

/** `listen(port, host)` or `listen(path)`, with a callback that is not called. */
replace(net.Server.prototype, 'listen', 'net.listen', ((
  server: net.Server,
  error: Error,
  [port, address]: unknown[],
) => {
  const place = typeof port === 'number' ? { port, address } : { address: port }
  process.nextTick(() => server.emit('error', Object.assign(error, place)))
  return server
}) as never)
replace(net.Socket.prototype, 'connect', 'net.connect', destroyed as never)
replace(net.Socket.prototype, 'write', 'net.write', ((socket: net.Socket, error: Error) => {
  destroyed(socket, error)
  return false
}) as never)
replace(dgram.Socket.prototype, 'bind', 'dgram.bind', ((socket: dgram.Socket, error: Error) => {
  process.nextTick(() => socket.emit('error', error))
  return socket
}) as never)
replace(dgram.Socket.prototype, 'connect', 'dgram.connect', reported as never)
replace(dgram.Socket.prototype, 'send', 'dgram.send', reported as never)

const { emit } = net.Server.prototype
net.Server.prototype.emit = function (this: net.Server, event: string, ...args: unknown[]) {
  const error = event === 'connection' ? planted('net.accept') : undefined
  if (!error) return Reflect.apply(emit, this, [event, ...args])
  ;(args[0] as net.Socket).destroy()
  return Reflect.apply(emit, this, ['error', error])
} as typeof emit

const { push } = net.Socket.prototype
net.Socket.prototype.push = function (this: net.Socket, ...args: Parameters<typeof push>) {
  const error = args[0] === null ? undefined : planted('net.read')
  if (!error) return push.apply(this, args)
  destroyed(this, error)
  return false
}

/** Without descriptors, the runtime returns the error and leaves the child without streams and channel. */
const LACKS = ['EMFILE', 'ENFILE']
replace(ChildProcess.prototype as never, 'spawn' as never, 'spawn', ((
  child: ChildProcess,
  error: NodeJS.ErrnoException,
) => {
  process.nextTick(() => child.emit('error', error))
  if (LACKS.includes(error.code!)) return error.errno
  Object.assign(child, { stdin: null, stdout: null, stderr: new PassThrough().end() })
  return error.errno
}) as never)
