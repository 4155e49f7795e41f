import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { releasesIn } from '../../../../../src/interfaces/api/installation/release-routes.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('api/installation/releases')

test('releases: the changelog is read by releases, sections and changes', () => {
  const text =
    '# Changelog\n\n## Unreleased\n\n### Fixed\n\n- One\n  line.\n- Two.\n\n## 1.2.0 - 2026-11-27\n\nWords.\n\n### Added\n\n- Three.\n'
  assert.equal(releasesIn(text), [
    { version: null, date: null, sections: [{ title: 'Fixed', items: ['One line.', 'Two.'] }] },
    { version: '1.2.0', date: '2026-11-27', sections: [{ title: 'Added', items: ['Three.'] }] },
  ])
  assert.equal(releasesIn(''), [])
})

test('releases: every change of our own changelog is found', () => {
  const text = readFileSync(new URL('../../../../../CHANGELOG.md', import.meta.url), 'utf8')
  const items = releasesIn(text).flatMap(({ sections }) => sections.flatMap(section => section.items))
  assert.is(items.length, text.match(/^- /gm)!.length)
  assert.ok(items.every(item => item !== ''))
})

test.run()
