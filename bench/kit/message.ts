/** The message all contenders send: html and text of about 5 KB together, the same bytes in every run. */
import { composeBody } from '../../src/protocols/mime/compose-body.ts'
import { composeHead } from '../../src/protocols/mime/compose-head.ts'
import { serializeFields } from '../../src/protocols/smtp/header-field.ts'

export const SENDER_DOMAIN = 'bench.test'

export interface BenchMessage {
  subject: string
  html: string
  text: string
  /** Message as Mailhorn composes it, without signatures; the other contenders are fed with it. */
  wire: Buffer
}

const WORDS =
  'the order you placed has left our house and will be at your door within days thank you for your trust'.split(
    ' ',
  )

export function benchMessage(bytes = 5_000): BenchMessage {
  const random = seeded(7)
  const sentence = () =>
    Array.from({ length: 12 }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
  const paragraph = () => Array.from({ length: 4 }, sentence).join('. ')
  let html = '<html><body style="font-family:sans-serif">\n'
  let text = ''
  while (html.length + text.length < bytes - 200) {
    const content = paragraph()
    html += `<p style="margin:0 0 12px;color:#${Math.floor(random() * 0xffffff).toString(16)}">${content}</p>\n`
    text += `${content}\n\n`
  }
  html += '</body></html>\n'
  const subject = 'Your order is on its way'
  const { fields, body } = composeBody({ html, text, attachments: [], seed: 'bench' })
  const mailbox = (address: string) => ({ name: null, address, domain: address.split('@')[1]! })
  const head = composeHead({
    from: mailbox(`news@${SENDER_DOMAIN}`),
    to: [mailbox('u@one.test')],
    cc: [],
    replyTo: [],
    subject,
    sentAt: Date.UTC(2026, 10, 21),
    messageId: `<bench@${SENDER_DOMAIN}>`,
    headers: [],
  })
  return {
    subject,
    html,
    text,
    wire: Buffer.concat([serializeFields([...head, ...fields]), Buffer.from('\r\n'), body]),
  }
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
}
