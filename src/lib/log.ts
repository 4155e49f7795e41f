/** Structured logs: one JSON object a line on stdout, secrets redacted by key. */
import { type DestinationStream, type Logger, pino } from 'pino'
import { createLogOutput } from './log-output.ts'
import { sharedLogTail } from './log-tail.ts'

export type Log = Logger
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** Keys whose values never reach a log line, at the top level or one level down. */
const SECRET_KEYS = [
  'password',
  'token',
  'authorization',
  'cookie',
  'secret',
  'secretKey',
  'apiKey',
  'privateKey',
  'signingSecret',
  'dnsApiToken',
  'html',
  'text',
  'content',
]

/**
 * Creates a logger. It writes synchronously, so that the last lines before a crash are there and threads can
 * share stdout. Lines that cannot be written are dropped and counted.
 */
export function createLog(level: LogLevel, to: DestinationStream = keptOutput()): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: SECRET_KEYS.flatMap(key => [key, `*.${key}`]), censor: '[redacted]' },
    },
    to,
  )
}

/** Writes to stdout, and keeps the last lines for operators, also those that could not be written. */
function keptOutput(): DestinationStream {
  const output = createLogOutput()
  const tail = sharedLogTail()
  return {
    write(line) {
      tail.append(line)
      output.write(line)
    },
  }
}
