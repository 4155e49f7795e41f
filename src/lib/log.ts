/** Structured logs: one JSON object a line on stdout, secrets redacted by key. */
import { type DestinationStream, destination, type Logger, pino } from 'pino'

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

/** Writes synchronously, so that the last lines before a crash are there and threads may share stdout. */
export function createLog(
  level: LogLevel,
  to: DestinationStream = destination({ dest: 1, sync: true }),
): Log {
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
