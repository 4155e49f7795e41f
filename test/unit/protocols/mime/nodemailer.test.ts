import MailComposer from 'nodemailer/lib/mail-composer'
import * as assert from 'uvu/assert'
import type { Mailbox } from '../../../../src/protocols/smtp/address.ts'
import { suite } from '../../../kit/suite.ts'
import { cases, type Given } from './cases.ts'
import { bodySource, compose, headSource } from './messages.ts'
import { readWithMailparser } from './readers.ts'

const test = suite('mime/nodemailer')

for (const [what, input] of cases)
  test(`${what}: readers see what nodemailer's message shows them`, async () => {
    const ours = await readWithMailparser(compose(input))
    const theirs = await readWithMailparser(await composedByNodemailer(input))
    for (const key of ['subject', 'from', 'to', 'cc', 'replyTo', 'messageId', 'date'] as const)
      assert.equal(ours[key], theirs[key], key)
    assert.is(ended(ours.text), ended(theirs.text))
    assert.is(ended(ours.html), ended(theirs.html))
    assert.equal(ours.attachments, theirs.attachments)
    for (const name of ['in-reply-to', 'references', 'list-unsubscribe', 'x-note'])
      assert.is(ours.header(name), theirs.header(name))
  })

function composedByNodemailer(input: Given): Promise<Buffer> {
  const head = headSource(input)
  const body = bodySource(input)
  const address = ({ name, address }: Mailbox) => ({ name: name ?? '', address })
  const { text, html, attachments } = body
  return new MailComposer({
    from: address(head.from),
    to: head.to.map(address),
    cc: head.cc.map(address),
    replyTo: head.replyTo.map(address),
    subject: head.subject,
    date: new Date(head.sentAt),
    messageId: head.messageId,
    headers: head.headers.map(([key, value]) => ({ key, value })),
    ...(text === null ? {} : { text }),
    ...(html === null ? {} : { html }),
    attachments: attachments.map(({ filename, contentType, contentId, content }) => ({
      filename,
      contentType,
      content: Buffer.from(content),
      ...(contentId === null ? {} : { cid: contentId }),
    })),
  })
    .compile()
    .build()
}

/** Each composer ends a single text in its own way. */
function ended(text: string | null): string {
  return (text ?? '').replace(/\n*$/, '')
}

test.run()
