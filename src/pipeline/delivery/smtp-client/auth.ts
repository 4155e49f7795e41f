/** Logs in to a relay (RFC 4954) by AUTH PLAIN (RFC 4616), or by AUTH LOGIN if only that is offered. */
import { formatReply, replyOf } from '../../../protocols/smtp/reply.ts'
import type { RawReply } from './reply-reader.ts'
import type { Login, SmtpFailure } from './types.ts'
import type { Wire } from './wire.ts'

const HIDDEN = '(hidden)'

/**
 * Must be called over TLS only.
 * @param mechanisms parameter of the EHLO keyword AUTH
 * @returns the last reply, with the login removed if the relay repeats it
 */
export async function logIn(
  wire: Wire,
  login: Login,
  mechanisms: string | undefined,
): Promise<{ failure: SmtpFailure | undefined; reply: RawReply | undefined }> {
  const offered = new Set(mechanisms?.toUpperCase().split(/ +/))
  const steps = offered.has('PLAIN') ? plain(login) : offered.has('LOGIN') ? loginSteps(login) : undefined
  if (!steps) {
    const message = 'the relay offers no login that we know (AUTH PLAIN or LOGIN)'
    return { failure: { phase: 'auth', kind: 'protocol', reply: null, message }, reply: undefined }
  }
  const hide = hider(login)
  let reply: RawReply | undefined
  for (const [i, { line, shown }] of steps.entries()) {
    wire.write(`${line}\r\n`, 1, `${shown}\r\n`)
    const raw = await wire.reply('auth')
    if ('kind' in raw) return { failure: raw, reply }
    reply = { code: raw.code, lines: raw.lines.map(hide) }
    const expected = i === steps.length - 1 ? 235 : 334
    if (raw.code !== expected) return { failure: refusal(wire, reply), reply }
  }
  return { failure: undefined, reply }
}

interface Step {
  line: string
  /** Text for logs. */
  shown: string
}

function plain({ user, password }: Login): Step[] {
  return [{ line: `AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, shown: `AUTH PLAIN ${HIDDEN}` }]
}

/** No RFC defines AUTH LOGIN, but all servers that offer it accept these steps. */
function loginSteps({ user, password }: Login): Step[] {
  const secret = (text: string) => ({ line: base64(text), shown: HIDDEN })
  return [{ line: 'AUTH LOGIN', shown: 'AUTH LOGIN' }, secret(user), secret(password)]
}

function refusal(wire: Wire, { code, lines }: RawReply): SmtpFailure {
  if (code >= 400) {
    const reply = replyOf(code, lines)
    return { phase: 'auth', kind: 'reply', reply, message: formatReply(reply) }
  }
  wire.breach(`the relay answered ${code} in phase auth`)
  return wire.failure('auth')
}

/** Replies are written to transcripts and logs, so a login that they repeat is removed. */
function hider({ user, password }: Login): (line: string) => string {
  const secrets = [base64(`\0${user}\0${password}`), base64(password), password]
  return line => secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
