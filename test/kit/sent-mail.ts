/**
 * Sends one mail of each kind through the whole service and takes them from the fake MX as they arrive, for programs that judge
 * or read mail.
 */
import { createTransport } from 'nodemailer'
import { startFakeMx } from './fake-mx.ts'
import {
  type FileOfMail,
  KINDS_OF_MAIL,
  type KindOfMail,
  type NamedAddress,
  UNSUBSCRIBE_URL,
} from './kinds-of-mail.ts'
import { type Mailhorn, startMailhorn } from './mailhorn.ts'
import type { ScriptedZone } from './zone.ts'

export interface SentMail extends KindOfMail {
  /** As the MX took it. */
  message: Buffer
  /** Of the envelope. */
  mailFrom: string
}

export interface SentMails {
  mails: SentMail[]
  /** Has the DNS records of the sender's domain, until it is closed. */
  zone: ScriptedZone
  close(): Promise<void>
}

/** An address that the SPF record of the sender's domain allows: of no network, but no example either (RFC 2544). */
export const SENDER_IP = '198.18.0.25'
export const MAIL_HOST = 'mailhorn.test'
const MX_HOST = '127.0.0.2'
const ZONE = `
  there.example        MX 10 mx.there.example
  mx.there.example     A ${MX_HOST}
  here.example         MX 10 ${MAIL_HOST}
  _dmarc.here.example  TXT "v=DMARC1; p=reject; adkim=s; aspf=r"
`

export async function sendEveryKind(): Promise<SentMails> {
  const mx = await startFakeMx({ host: MX_HOST })
  const mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: {
      MAILHORN_DNS_ADDRESSES: SENDER_IP,
      MAILHORN_TRACKING_BASE_URL: 'https://mail.here.example',
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
    },
  })
  const close = async () => {
    await mailhorn.close()
    await mx.close()
  }
  try {
    await mailhorn.verifiedDomain('here.example')
    for (const mail of KINDS_OF_MAIL) await WAYS[mail.way](mailhorn, mail)
    await mx.waitFor(KINDS_OF_MAIL.length)
    const mails = KINDS_OF_MAIL.map(mail => {
      const taken = mx.messages.find(({ rcptTo }) => rcptTo.includes(mail.to.address))
      if (!taken) throw new Error(`${mail.kind} did not arrive`)
      return { ...withOwnLink(mail, taken.headers), message: taken.data, mailFrom: taken.mailFrom }
    })
    return { mails, zone: mailhorn.zone, close }
  } catch (error) {
    await close()
    throw error
  }
}

const WAYS: Record<KindOfMail['way'], (mailhorn: Mailhorn, mail: KindOfMail) => Promise<unknown>> = {
  api: (mailhorn, mail) => mailhorn.send({ ...requestOf(mail), ...wordsOf(mail) }),
  async template(mailhorn, mail) {
    const marked = (words: string | null) =>
      words?.replaceAll('Bob', '{{name}}').replaceAll('5417', '{{order}}')
    const { subject, text, html } = wordsOf(mail)
    const body = { name: 'Order', subject: marked(subject), text: marked(text), html: marked(html ?? '') }
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
}

function created({ status, body }: { status: number; body: { id: string; version?: string } }) {
  if (status >= 300) throw new Error(`it was refused: ${JSON.stringify(body)}`)
  return body
}

function wordsOf({ subject, text, html }: KindOfMail) {
  return { subject, text, html }
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

/** With the link of this recipient, which the header has, too (RFC 8058). */
function withOwnLink(mail: KindOfMail, headers: string): KindOfMail {
  if (!mail.text.includes(UNSUBSCRIBE_URL)) return mail
  const [, link] = /^List-Unsubscribe:[^<]*<(https:[^>]+)>/im.exec(headers.replace(/\r\n[ \t]+/g, '')) ?? []
  if (link === undefined) throw new Error(`${mail.kind} has no link in List-Unsubscribe: ${headers}`)
  const own = (words: string) => words.replaceAll(UNSUBSCRIBE_URL, link)
  return { ...mail, text: own(mail.text), html: mail.html && own(mail.html) }
}
