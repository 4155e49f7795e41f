import * as assert from 'uvu/assert'
import { htmlToText } from '../../../../../src/protocols/mime/html/html-to-text.ts'
import { textPartOf } from '../../../../../src/protocols/mime/html/text-part.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/text-part')

const offer = (number: number) =>
  `<a href="https://shop.example/offers/${number}?from=news"><img src="https://shop.example/${number}.png" alt="Chair number ${number}, now for half of its price"></a>`
const offers = [1, 2, 3, 4, 5, 6].map(offer).join('\n')

for (const [what, html, text] of [
  ['pictures alone', `<body>${offers}</body>`, undefined],
  ['pictures and a footer', `<div>${offers}</div><p>Shop Ltd, Main Street 1</p>`, 'Shop Ltd, Main Street 1'],
  [
    'links of few words',
    `<p>${[1, 2, 3, 4, 5].map(i => `<a href="https://a.example/${i}">Read</a>`).join(' ')}</p>`,
    'Read Read Read Read Read',
  ],
  [
    'a map of a picture',
    `<img src="a.png" usemap="#m"><map name="m">${[1, 2, 3, 4, 5].map(i => `<area href="https://a.example/${i}" alt="Part ${i}">`).join('')}</map>`,
    undefined,
  ],
] as const)
  test(`a page of ${what} gets a text of the words that are seen, or none`, () => {
    assert.is(textPartOf(html), text)
    assert.match(htmlToText(html)!, 'https://')
  })

for (const html of [
  '<p>Hello Ann, your order is on its way.</p><p><a href="https://shop.example/o/1">Follow it</a></p>',
  '<a href="https://a.example/confirm">Confirm</a>',
  '<a href="https://a.example/confirm"><img src="a.png" alt="Confirm address"></a>',
  `<p>${'A chair for the garden, of oak, in three sizes and two colours. '.repeat(2)}</p>${offer(1)}`,
])
  test(`the text of ${html.slice(0, 50)} keeps its links and the texts of pictures`, () => {
    assert.is(textPartOf(html), htmlToText(html))
    assert.match(textPartOf(html)!, 'https://')
  })

test.run()
