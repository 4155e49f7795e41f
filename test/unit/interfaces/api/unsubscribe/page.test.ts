import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { LANGUAGES, pageLanguage } from '../../../../../src/interfaces/api/recipients/languages.ts'
import { recipientReply } from '../../../../../src/interfaces/api/recipients/shell.ts'
import { unsubscribePage } from '../../../../../src/interfaces/api/unsubscribe/page.ts'
import { newId } from '../../../../kit/mail.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('unsubscribe page')

const senderOf = (name: string | undefined) => ({ name, color: null, logoPath: null })
const topic = (name: string, description: string | null, isWanted = true) => ({
  ...{ id: newId(1), name, description, isWanted },
})
type Page = Parameters<typeof unsubscribePage>[0]
const pageWith = (over: Partial<Page>, code = 'en') => {
  const language = pageLanguage([code])
  const page = {
    sender: senderOf('Acme & Co'),
    isUnsubscribed: false,
    topics: [],
    address: 'ann@there.example',
    topic: undefined,
    done: undefined,
    ...over,
  }
  return `${recipientReply(200, language, unsubscribePage(page, language.texts)).content}`
}

test('a topic with a description has it beside its box, and one without has none', () => {
  const page = pageWith({ topics: [topic('News', '<What> is new'), topic('Shop', null), topic('Blog', '')] })
  assert.match(page, '<small id="t0">&lt;What&gt; is new</small>')
  assert.equal(page.match(/<small/g)?.length, 1)
  assert.equal(page.match(/aria-describedby="[^"]*"/g), ['aria-describedby="t0"'])
})

test('a box is checked when its topic is wanted and its reader is not unsubscribed from everything', () => {
  const topics = [topic('News', null), topic('Shop', null, false)]
  assert.is(pageWith({ topics }).match(/ checked/g)?.length, 1)
  assert.is(pageWith({ topics, isUnsubscribed: true }).match(/ checked/g), null)
})

for (const [what, over, buttons] of [
  ['without topics', {}, ['leave-all']],
  ['of a topic', { topic: topic('News', null) }, ['leave', 'leave-all']],
  ['of a topic that was left', { topic: topic('News', null, false) }, ['return', 'leave-all']],
  ['after leaving everything', { isUnsubscribed: true }, ['return']],
  [
    'after leaving everything, with topics',
    { isUnsubscribed: true, topics: [topic('News', null)] },
    ['return', 'save'],
  ],
] as [string, Partial<Page>, string[]][])
  test(`a page ${what} offers ${buttons.join(' and ')}`, () => {
    const offered = [...pageWith(over).matchAll(/<button[^>]*value="([^"]+)"/g)].map(([, value]) => value)
    assert.equal(offered, buttons)
  })

test('colours are those of the dashboard', () => {
  const tokens = readFileSync('src/interfaces/dashboard/web/styles/tokens.css', 'utf8')
  const own = [...pageWith({}).matchAll(/--[\w-]+: #\w+;/g)].map(([token]) => token)
  assert.ok(own.length > 10)
  assert.equal(
    own.filter(token => !tokens.includes(token)),
    [],
  )
  const others = pageWith({})
    .replaceAll(/--[\w-]+: #\w+;/g, '')
    .match(/#[\da-f]{3,6}\b/g)
  assert.equal(others, null, 'no other colour')
})

test('a sender is shown by name, if it is known', () => {
  assert.match(pageWith({ sender: senderOf(undefined) }), 'Emails from this sender')
  assert.match(pageWith({}), 'Emails from Acme &amp; Co')
})

for (const [color, text] of [
  ['#ffffff', 'black'],
  ['#f2b90c', 'black'],
  ['#777777', 'black'],
  ['#1c7047', 'white'],
  ['#0000ff', 'white'],
  ['#000000', 'white'],
] as const)
  test(`buttons of the colour ${color} have ${text} text, and the policy allows this style alone`, () => {
    const reply = recipientReply(200, pageLanguage([]), {
      ...{ title: '', content: '', sender: { name: 'Acme "&"', color, logoPath: '/l/00' } },
    })
    const html = `${reply.content}`
    assert.match(html, `<style>:root { --brass: ${color}; --on-brass: ${text}; }</style>`)
    assert.match(html, '<img src="/l/00" alt="Acme &quot;&amp;&quot;">')
    const policy = reply.headers['content-security-policy']!
    const hashes = [...html.matchAll(/<style>([^<]*)<\/style>/g)].map(
      ([, style]) => `'sha256-${hash('sha256', style!, 'base64')}'`,
    )
    assert.match(policy, `style-src ${hashes.join(' ')};`)
    assert.match(policy, "default-src 'none'")
  })

for (const code of LANGUAGES)
  test(`in ${code}: every state of the page has its lang attribute, escapes names, and differs from English`, () => {
    const states: Partial<Page>[] = [
      {},
      { topic: topic('<News>', null), topics: [topic('<News>', null)] },
      { topic: topic('<News>', null, false) },
      { isUnsubscribed: true, topics: [topic('<News>', null)] },
      { done: 'save' },
      { done: 'return' },
      { sender: senderOf(undefined) },
    ]
    for (const state of states) {
      const page = pageWith(state, code)
      assert.match(page, `<html lang="${code}">`)
      assert.not.match(page, /<News>|undefined|\$\{/)
      if (state.done !== 'save') assert.match(page, 'ann@there.example')
      const words = (html: string) => html.slice(html.indexOf('<body>'))
      assert.is(words(page) === words(pageWith(state)), code === 'en')
    }
  })

test.run()
