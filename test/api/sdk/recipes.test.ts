import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { runCode } from '../../kit/sdk/clients.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('recipes of docs/frameworks.md')
const page = readFileSync(new URL('../../../docs/frameworks.md', import.meta.url), 'utf8')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
  await mailhorn.verifiedDomain('your.domain')
})
test.after(() => mailhorn.close())

/** The first code in JavaScript below a heading. */
function recipe(heading: string): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const found = /^```js\n(.*?)^```/ms.exec(section)
  if (!found) throw new Error(`docs/frameworks.md has no code below ${heading}`)
  return found[1]!
}

async function run(code: string): Promise<string> {
  const env = { RESEND_API_KEY: mailhorn.apiKey, RESEND_BASE_URL: mailhorn.baseUrl }
  const { code: status, output, errors } = await runCode(code, env)
  assert.is(status, 0, errors)
  return output.trim()
}

test('React Email: the component is rendered and sent', async () => {
  const { status, html } = await mailhorn.emailWhen(await run(recipe('React Email')), 'delivered')
  assert.is(status, 'delivered')
  assert.match(html, /<p>Hello Zoë<\/p>/)
})

test('Auth.js: a sign-in sends its link', async () => {
  const signIn = `
    import { Auth, skipCSRFCheck } from '@auth/core'
    const request = new Request('https://app.example/auth/signin/resend', {
      method: 'POST',
      body: new URLSearchParams({ email: 'delivered+signin@simulator.test' }),
    })
    const adapter = {
      getUserByEmail: async () => null,
      createVerificationToken: async token => token,
      useVerificationToken: async () => null,
    }
    const config = { adapter, skipCSRFCheck, providers: [provider], secret: 's', trustHost: true, basePath: '/auth' }
    const reply = await Auth(request, config)
    console.log(reply.headers.get('location'))
  `
  assert.match(await run(recipe('Auth.js and NextAuth') + signIn), '/auth/verify-request')
  const { body } = await mailhorn.call('GET', '/emails?to=delivered%2Bsignin%40simulator.test', {
    key: mailhorn.apiKey,
  })
  const { text } = await mailhorn.email(body.data[0].id)
  assert.match(text, 'https://app.example/auth/callback/resend?')
})

test.run()
