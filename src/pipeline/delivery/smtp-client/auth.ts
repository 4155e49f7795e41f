/** Tells a relay who we are (RFC 4954): by PLAIN (RFC 4616), or by LOGIN where only that is offered. */
import { formatReply, replyOf } from '../../../protocols/smtp/reply.ts'
import type { RawReply } from './reply-reader.ts'
import type { Login, SmtpFailure } from './types.ts'
import type { Wire } from './wire.ts'

const HIDDEN = '(hidden)'

/**
 * To be called over TLS alone.
 * @param mechanisms parameter of the EHLO keyword AUTH
 * @returns the last reply, without the login where the relay repeats it
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
  /** For logs. */
  shown: string
}

function plain({ user, password }: Login): Step[] {
  return [{ line: `AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, shown: `AUTH PLAIN ${HIDDEN}` }]
}

/** What every server that has it takes, though no RFC says so. */
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

/** A reply goes into transcripts and logs: whatever it repeats of the login must not. */
function hider({ user, password }: Login): (line: string) => string {
  const secrets = [base64(`\0${user}\0${password}`), base64(password), password]
  return line => secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
