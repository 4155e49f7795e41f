/**
 * Sends emails to operators through a smart host of their own, past the queue and the database. Called by the
 * fallback of alerts, and by the test of their channels.
 */
import { isIP } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { Clock } from '../../lib/clock.ts'
import { lookUpAddresses } from '../../protocols/dns/mx-hosts.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { composeBody } from '../../protocols/mime/compose-body.ts'
import { composeHead } from '../../protocols/mime/compose-head.ts'
import { joinMessage } from '../../protocols/mime/whole-message.ts'
import { type Mailbox, needsSmtpUtf8 } from '../../protocols/smtp/address.ts'
import { formatReply } from '../../protocols/smtp/reply.ts'
import { openSession } from '../delivery/smtp-client/open.ts'
import { createClientContext } from '../delivery/smtp-client/tls.ts'
import {
  DEFAULT_TIMEOUTS,
  type Login,
  type SessionFailure,
  type SessionOptions,
  type SmtpSession,
  type TlsOptions,
} from '../delivery/smtp-client/types.ts'
import type { ChannelAnswer } from './webhook.ts'

export interface RelayedMail {
  to: Mailbox
  subject: string
  text: string
  /** Message-ID with angle brackets; the same for a mail that is sent again. */
  messageId: string
}

export interface AlertRelay {
  /** @returns the reply of the smart host, or why there is none */
  send(mail: RelayedMail): Promise<ChannelAnswer>
}

interface AlertRelayOptions {
  smartHost: {
    /** Name or IP address. */
    host: string
    port: number
    tls: 'implicit' | 'required' | 'opportunistic'
    login: Login | null
  }
  from: Mailbox
  /** Host name for EHLO. */
  localName: string
  /** PEM certificates of the trusted authorities; the runtime's when absent. */
  authorities: string[] | undefined
  resolver: Resolver
  clock: Clock
  /** Returns a number from 0 to 1. */
  random(): number
}

/** The watch that sends alerts waits for the smart host, so it must not take as long as a delivery may. */
const TIMEOUTS = { ...DEFAULT_TIMEOUTS, banner: 60_000, ehlo: 60_000, mail: 60_000, rcpt: 60_000 }
const ADDRESSES_MAX = 4

export function createAlertRelay(options: AlertRelayOptions): AlertRelay {
  const { smartHost } = options
  const secureContext = createClientContext(options.authorities)
  return {
    async send(mail) {
      const addresses = await addressesOf(options)
      if (typeof addresses === 'string') return { isTaken: false, answer: addresses }
      let answer = ''
      for (const address of addresses) {
        const session = await dial(options, address, secureContext)
        if (!('failure' in session)) return sendOver(options, session, mail)
        answer = `${smartHost.host} [${address}]: ${session.failure.message}`
      }
      return { isTaken: false, answer }
    },
  }
}

/** @returns at least one address, or why there is none */
async function addressesOf({
  smartHost: { host },
  resolver,
  random,
}: AlertRelayOptions): Promise<readonly string[] | string> {
  if (isIP(host) > 0) return [host]
  const found = await lookUpAddresses(resolver, host, {
    families: ['ipv4', 'ipv6'],
    limit: ADDRESSES_MAX,
    random,
  })
  if (found.kind === 'addresses') return found.addresses
  return found.kind === 'failure' ? `${host}: ${found.reason}` : `${host} has no address`
}

function dial(
  { smartHost, localName, clock }: AlertRelayOptions,
  address: string,
  secureContext: SecureContext,
): Promise<SmtpSession | SessionFailure> {
  const { host, port, tls: mode, login } = smartHost
  const tls: TlsOptions = { mode, secureContext, rejectUnauthorized: mode !== 'opportunistic' }
  const session: SessionOptions = { address, port, mxHost: host, localName, tls, timeouts: TIMEOUTS, clock }
  return openSession(login ? { ...session, login } : session)
}

async function sendOver(
  { from, clock }: AlertRelayOptions,
  session: SmtpSession,
  mail: RelayedMail,
): Promise<ChannelAnswer> {
  const message = composed(from, mail, clock.now())
  const { recipients } = await session.send({
    mailFrom: from.address,
    recipients: [mail.to.address],
    message: [message],
    size: message.length,
    smtpUtf8: needsSmtpUtf8(from.address) || needsSmtpUtf8(mail.to.address),
  })
  await session.quit()
  const result = recipients[0]!
  if (result.kind === 'failed') return { isTaken: false, answer: result.failure.message }
  return { isTaken: result.kind === 'accepted', answer: formatReply(result.reply) }
}

function composed(from: Mailbox, { to, subject, text, messageId }: RelayedMail, sentAt: number): Buffer {
  const head = composeHead({
    ...{ from, to: [to], cc: [], replyTo: [], subject, sentAt, messageId },
    headers: [['Auto-Submitted', 'auto-generated']],
  })
  const { fields, body } = composeBody({ html: null, text, attachments: [], seed: messageId })
  return joinMessage([...head, ...fields], body)
}
