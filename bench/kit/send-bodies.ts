/** Sends large bodies from its own process. Arguments: kind, count, bytes, URL, key. */
import { request } from 'node:http'
import { SENDER_DOMAIN } from './message.ts'

const [kind = '', count = '', bytes = '', url = '', key = ''] = process.argv.slice(2)
const MAIL = `"from":"a@${SENDER_DOMAIN}","to":"bob@one.test","subject":"large"`

/** Fills a body of each kind with so many bytes. Lists of wrong entries are refused, all others accepted. */
const FILLINGS: Record<string, (size: number) => string> = {
  base64: size => `"text":"x","attachments":[{"content":"${'QUJD'.repeat(size / 4)}"}]`,
  html: size => `"html":"${'<p>Greetings from the post office</p>\\n'.repeat(size / 39)}"`,
  integers: size => `"text":"x","attachments":[{"content":[${'199,'.repeat(size / 4)}1]}]`,
  wrong: size => `"text":"x","tags":[${'-1,'.repeat(size / 3)}1]`,
  'wrong-small': () => `"text":"x","tags":[${'1,'.repeat(60_000)}1]`,
}

const body = Buffer.from(`{${MAIL},${FILLINGS[kind]!(Number(bytes))}}`)

function send(): Promise<number> {
  return new Promise((resolve, reject) => {
    const client = request(`${url}/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    })
    client.on('response', response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode!))
    })
    client.on('error', reject)
    client.end(body)
  })
}

const beganAt = performance.now()
const statuses = await Promise.all(Array.from({ length: Number(count) }, send))
console.log(JSON.stringify({ statuses, elapsedMs: performance.now() - beganAt }))
