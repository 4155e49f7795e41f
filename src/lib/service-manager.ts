/**
 * Tells systemd what the service does, as its units of `Type=notify` ask (sd_notify(3)): datagrams to the
 * socket that `NOTIFY_SOCKET` names. Node has no datagram sockets of the Unix family, so they are sent by
 * functions of the C library.
 */

const AF_UNIX = 1
const SOCK_DGRAM = 2
const SOCK_CLOEXEC = 0o2000000
const MSG_NOSIGNAL = 0x4000
/** The watchdog hears of the service twice in its interval, as sd_watchdog_enabled(3) recommends. */
const PINGS_PER_INTERVAL = 2

type Notify = (notification: 'READY=1' | 'STOPPING=1' | 'WATCHDOG=1') => void

/**
 * Connects to the service manager and starts to ping its watchdog, if it has one: systemd ends a process
 * whose event loop stands still for longer than `WatchdogSec`.
 *
 * @returns a function that tells it; undefined when no service manager has started this process
 * @throws Error if the socket cannot be opened
 */
export async function connectServiceManager(env: NodeJS.ProcessEnv): Promise<Notify | undefined> {
  const { NOTIFY_SOCKET: path, WATCHDOG_USEC: intervalUs, WATCHDOG_PID: watched } = env
  if (process.platform !== 'linux' || !path) return undefined
  const send = await datagramsTo(path)
  const notify: Notify = notification => send(Buffer.from(notification))
  if (Number(intervalUs) > 0 && (watched === undefined || Number(watched) === process.pid))
    setInterval(() => notify('WATCHDOG=1'), Number(intervalUs) / 1_000 / PINGS_PER_INTERVAL).unref()
  return notify
}

/** @param path of the socket; one that begins with `@` is in the abstract namespace */
async function datagramsTo(path: string): Promise<(message: Buffer) => void> {
  const { default: koffi } = await import('koffi')
  const libc = koffi.load(null)
  const openSocket = libc.func('int socket(int domain, int type, int protocol)')
  const sendTo = libc.func(
    'int64_t sendto(int fd, const void *data, size_t size, int flags, const void *to, uint32_t length)',
  )
  const socket: number = openSocket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
  if (socket < 0)
    throw new Error(`the socket of the service manager cannot be opened: errno ${koffi.errno()}`)
  const family = Buffer.alloc(2)
  family.writeUInt16LE(AF_UNIX)
  const address = Buffer.concat([
    family,
    Buffer.from(path.replace(/^@/, '\0')),
    Buffer.alloc(path.startsWith('@') ? 0 : 1),
  ])
  return message => {
    sendTo(socket, message, message.length, MSG_NOSIGNAL, address, address.length)
  }
}
