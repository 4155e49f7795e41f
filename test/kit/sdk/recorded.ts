/**
 * Requests of the SDKs of other languages, as they were recorded, and what they need to be repeated: texts in
 * braces, such as `{email}`, stand for what `prepareRecorded()` makes and for ids of earlier replies
 * (`save`).
 */
import type { SdkWorld } from './calls.ts'
import { audienceOf, claimedDomain, deliveredEmail, foreignDomain, receivedEmail } from './fixtures.ts'

export interface RecordedCall {
  /** Method of the SDK in the words of the Node package, such as `emails.receiving.get`. */
  call: string
  method: string
  path: string
  headers: Record<string, string>
  /** Body of the request, one character per octet. */
  body: string
  /** Status of the reply when it was recorded. */
  status: number
  /** Name under which later calls use the id of the reply. */
  save?: string
}

export interface Recording {
  language: string
  version: string
  /** The `User-Agent` of each request. */
  agent: string
  calls: RecordedCall[]
}

/** Makes what the recorded calls are about. */
export async function prepareRecorded(world: SdkWorld): Promise<Record<string, string>> {
  const { mailhorn, make, credential: session } = world
  const delivered = await deliveredEmail(world)
  const { body: files } = await mailhorn.call('GET', `/emails/${delivered}/attachments`, { session })
  const { id: received, attachmentId: receivedAttachment } = await receivedEmail(world)
  const { id: template } = await make('/templates', {
    ...{
      name: 'greeting',
      from: 'ann@here.example',
      subject: 'Hello {{{NAME}}}',
      html: '<p>{{{COUNT}}}</p>',
    },
  })
  await make(`/templates/${template}/publish`, {})
  const [foreign, claimed] = [await foreignDomain(world), await claimedDomain(world)]
  const readers = await audienceOf(world, 'delivered')
  const { body: logs } = await mailhorn.call('GET', '/logs', { session })
  return {
    ...{ delivered, attachment: files.data[0].id, received, receivedAttachment, template },
    ...{ foreign, claimed, readers, log: logs.data[0].id },
  }
}
