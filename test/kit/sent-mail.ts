/**
 * Sends one mail of each kind through the whole service and takes them from the fake MX as they arrive, for
 * programs that judge or read mail.
 */
import { createTransport } from 'nodemailer'
import { type FakeMx, startFakeMx } from './fake-mx.ts'
import {
  type FileOfMail,
  KINDS_OF_MAIL,
  type KindOfMail,
  type NamedAddress,
  UNSUBSCRIBE_URL,
} from './kinds-of-mail.ts'
import { type Mailhorn, startMailhorn } from './mailhorn.ts'
import { sendMail } from './smtp-client.ts'
import { until } from './until.ts'
import type { ScriptedZone } from './zone.ts'

export interface ArrivedMail {
  kind: string
  /** Message as the MX received it. */
  message: Buffer
  /** Sender of the envelope. */
  mailFrom: string
  rcptTo: string
}

export type SentMail = KindOfMail & ArrivedMail

export interface SentMails {
  /** Mails in the order of `KINDS_OF_MAIL`. */
  mails: SentMail[]
  /** Mails whose words the product writes or changes. */
  written: ArrivedMail[]
  /** Has the DNS records of the sender's domain, until it is closed. */
  zone: ScriptedZone
  close(): Promise<void>
}

/** Address from the benchmarking range (RFC 2544), which the sender's SPF record allows. */
export const SENDER_IP = '198.18.0.25'
export const MAIL_HOST = 'mailhorn.test'
const MX_HOST = '127.0.0.2'
const TRACKED = 'ok-tracked@there.example'
const PICTURES = 'ok-pictures@there.example'
const FORWARDED = 'ok-forwarded@there.example'
const TLS_REPORT = 'ok-tls-report@there.example'
const ZONE = `
  there.example            MX 10 mx.there.example
  mx.there.example         A ${MX_HOST}
  _smtp._tls.there.example TXT "v=TLSRPTv1; rua=mailto:${TLS_REPORT}"
  here.example             MX 10 ${MAIL_HOST}
  _dmarc.here.example      TXT "v=DMARC1; p=reject; adkim=s; aspf=r"
`
const REPORTS_AFTER_MS = 29 * 3_600_000
const RESULTS_AFTER_MS = 61_000

/** A page that is made of linked pictures, as designers send it. */
const PICTURES_PAGE = `<!DOCTYPE html><html><head><title>Chairs of this week</title></head><body><table><tbody>${Array.from(
  { length: 8 },
  (_, i) =>
    `<tr><td><a href="https://here.example/chairs/of-this-week/${i}?size=large"><img src="https://here.example/pictures/chair-${i}.png" width="600" height="300" alt="A chair of oak number ${i} with a seat of cane"></a></td></tr>`,
).join('\n')}</tbody></table><p>You get this since you have asked for it.</p></body></html>`

export async function sendEveryKind(): Promise<SentMails> {
  const mx = await startFakeMx({ host: MX_HOST, tls: 'good' })
  const mailhorn = await startMailhorn({
    dns: true,
    zone: ZONE,
    mxPort: mx.port,
    env: {
      MAILHORN_DNS_ADDRESSES: SENDER_IP,
      MAILHORN_TRACKING_BASE_URL: 'https://mail.here.example',
      MAILHORN_DELIVERY_TLS_REPORTS_FROM: 'tls-reports@here.example',
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
    },
  })
  const close = async () => {
    await mailhorn.close()
    await mx.close()
  }
  try {
    const { id: domain } = await mailhorn.verifiedDomain('here.example')
    for (const mail of KINDS_OF_MAIL) await WAYS[mail.way](mailhorn, mail)
    await mx.waitFor(KINDS_OF_MAIL.length)
    const mails = KINDS_OF_MAIL.map(mail => {
      const arrived = arrivedAt(mx, mail.kind, mail.to.address)
      return { ...withOwnLink(mail, arrived.message), ...arrived }
    })
    return { mails, written: await sendWritten(mailhorn, mx, domain), zone: mailhorn.zone, close }
  } catch (error) {
    await close()
    throw error
  }
}

function arrivedAt(mx: FakeMx, kind: string, rcptTo: string): ArrivedMail {
  const taken = mx.messages.find(message => message.rcptTo.includes(rcptTo))
  if (!taken) throw new Error(`${kind} did not arrive`)
  return { kind, message: taken.data, mailFrom: taken.mailFrom, rcptTo }
}

async function sendWritten(mailhorn: Mailhorn, mx: FakeMx, domain: string): Promise<ArrivedMail[]> {
  const counted = KINDS_OF_MAIL.length + 1
  const session = await mailhorn.signIn()
  const page = KINDS_OF_MAIL.find(({ html }) => html?.includes('https:'))!
  await mailhorn.send({
    ...requestOf(page),
    to: PICTURES,
    subject: 'Chairs of this week',
    html: PICTURES_PAGE,
  })
  await mx.waitFor(counted)
  const tracking = { open_tracking: true, click_tracking: true }
  await mailhorn.call('PATCH', `/domains/${domain}`, { session, body: tracking })
  await mailhorn.send({ ...requestOf(page), ...wordsOf(page), to: TRACKED })
  await mx.waitFor(counted + 1)

  const body = { from: addressOf(page.from), to: FORWARDED }
  const id = await receive(mailhorn, page.to.address, 'To pass on')
  created(await mailhorn.call('POST', `/inbound/${id}/forward`, { key: mailhorn.apiKey, body }))
  await mx.waitFor(counted + 2)

  mailhorn.clock.advance(RESULTS_AFTER_MS)
  await until(() => mailhorn.rows('select domain from tls_results').length > 0)
  mailhorn.clock.advance(REPORTS_AFTER_MS)
  await mx.waitFor(counted + 3)
  return [
    arrivedAt(mx, 'a newsletter of pictures', PICTURES),
    arrivedAt(mx, 'tracked links', TRACKED),
    arrivedAt(mx, 'forwarded mail', FORWARDED),
    arrivedAt(mx, 'a TLS report', TLS_REPORT),
  ]
}

const WAYS: Record<KindOfMail['way'], (mailhorn: Mailhorn, mail: KindOfMail) => Promise<unknown>> = {
  api: (mailhorn, mail) => mailhorn.send({ ...requestOf(mail), ...wordsOf(mail) }),
  async template(mailhorn, mail) {
    const marked = (words: string | null) =>
      words?.replaceAll('Bob', '{{name}}').replaceAll('5417', '{{order}}')
    const { subject, text, html } = mail
    const body = { name: 'Order', subject: marked(subject), text: marked(text), html: marked(html) }
    const session = await mailhorn.signIn()
    const { id } = created(await mailhorn.call('POST', '/templates', { session, body }))
    const template = { template_id: id, template_data: { name: 'Bob', order: 5417 } }
    await mailhorn.send({ ...requestOf(mail), ...template })
  },
  async broadcast(mailhorn, mail) {
    const session = await mailhorn.signIn()
    const post = async (path: string, body: object) =>
      created(await mailhorn.call('POST', path, { session, body }))
    const audience = await post('/audiences', { name: 'Readers' })
    await post(`/audiences/${audience.id}/contacts`, { email: mail.to.address })
    const draft = { audience_id: audience.id, from: addressOf(mail.from), ...wordsOf(mail) }
    const { id, version } = await post('/broadcasts', draft)
    await post(`/broadcasts/${id}/send`, { version })
  },
  async smtp(mailhorn, mail) {
    const program = createTransport({
      host: '127.0.0.1',
      port: mailhorn.app.submission.submission!.port,
      requireTLS: true,
      auth: { user: 'resend', pass: mailhorn.apiKey },
      tls: { rejectUnauthorized: false },
    })
    await program.sendMail({ from: mail.from, to: mail.to, ...wordsOf(mail), html: mail.html ?? undefined })
  },
  async answer(mailhorn, mail) {
    const id = await receive(mailhorn, addressOf(mail.to), mail.subject.replace('Re: ', ''))
    const { text, html } = mail
    const body = { from: addressOf(mail.from), text, html }
    created(await mailhorn.call('POST', `/inbound/${id}/reply`, { key: mailhorn.apiKey, body }))
  },
}

/** Has a question come in at port 25. Resolves to its id, once it is listed. */
async function receive(mailhorn: Mailhorn, from: string, subject: string): Promise<string> {
  const data = [
    `From: ${from}`,
    'To: ann@here.example',
    `Subject: =?UTF-8?B?${Buffer.from(subject).toString('base64')}?=`,
    'Message-ID: <question-2@there.example>',
    'References: <question-1@there.example>',
    '',
    'Would Thursday suit you, or is the weekend better?',
    '',
  ].join('\n')
  const mail = { from: 'asker@there.example', to: 'ann@here.example', data }
  const reply = await sendMail(mailhorn.app.inboundAddress!, mail)
  if (!reply.startsWith('250')) throw new Error(`it was not received: ${reply}`)
  const key = mailhorn.apiKey
  return until(async () => {
    const { body } = await mailhorn.call('GET', `/inbound?q=${encodeURIComponent(subject)}`, { key })
    return body.data[0]?.id
  })
}

function created({ status, body }: { status: number; body: { id: string; version?: string } }) {
  if (status >= 300) throw new Error(`it was refused: ${JSON.stringify(body)}`)
  return body
}

function wordsOf({ subject, text, html, derivesText }: KindOfMail) {
  return { subject, html, ...(!derivesText && { text }) }
}

function requestOf({ from, to, files, headers }: KindOfMail) {
  return { from: addressOf(from), to: addressOf(to), headers, attachments: files.map(attachmentOf) }
}

/** Neither the charset nor the method is given: the product adds them. */
function attachmentOf({ filename, type, contentId, content }: FileOfMail) {
  const base64 = content.toString('base64')
  return { filename, content_type: type, content: base64, ...(contentId && { content_id: contentId }) }
}

/** The name in quotes, so that quotes inside it stay (RFC 5322 §3.2.4). */
function addressOf({ name, address }: NamedAddress): string {
  return `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`
}

/** Replaces the placeholder with the recipient's link, which is also in the header (RFC 8058). */
function withOwnLink(mail: KindOfMail, message: Buffer): KindOfMail {
  if (!mail.text.includes(UNSUBSCRIBE_URL)) return mail
  const [, link] = /^List-Unsubscribe:\s*<(https:[^>]+)>/m.exec(message.toString('latin1')) ?? []
  if (link === undefined) throw new Error(`${mail.kind} has no link in List-Unsubscribe`)
  const own = (words: string) => words.replaceAll(UNSUBSCRIBE_URL, link)
  return { ...mail, text: own(mail.text), html: mail.html && own(mail.html) }
}
