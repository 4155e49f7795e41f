import * as assert from 'uvu/assert'
import { linksToOpen, linksWords } from '../../../../src/interfaces/dashboard/web/labels/links.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('links in the review of a broadcast')
const linkTo = (url: string, message: string | null = null) => ({ url, line: 1, message })

test('links that the service makes are not to be opened', () => {
  const own = ['{{unsubscribe_url}}', '{{{RESEND_UNSUBSCRIBE_URL}}}', ' {{ view_in_browser_url }} ']
  const others = ['https://shop.example/', 'https://shop.example/?to={{email}}', '{{profile_url}}']
  assert.equal(
    linksToOpen([...own, ...others].map(url => linkTo(url))).map(({ url }) => url),
    others,
  )
})

test('no link is called fine, since none was opened', () => {
  const fine = linkTo('https://shop.example/')
  const empty = linkTo('#', 'A link has no target: “#”.')
  assert.is(linksWords([fine]), '1 link. It was not opened: open it once yourself.')
  assert.is(linksWords([fine, fine, fine]), '3 links. None was opened: open them once yourself.')
  assert.is(linksWords([fine, empty]), '2 links, 1 with problems. None was opened: open them once yourself.')
})

test.run()
