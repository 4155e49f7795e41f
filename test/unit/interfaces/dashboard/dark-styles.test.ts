import * as assert from 'uvu/assert'
import { hasDarkStyles, inDarkMode } from '../../../../src/interfaces/dashboard/web/labels/dark-styles.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: a message in dark mode')

test('dark styles are in force, and light ones are not', () => {
  const html =
    '<style>@media (prefers-color-scheme: dark){a{}} @media screen and ( Prefers-Color-Scheme:LIGHT ){b{}}</style>'
  assert.is(
    inDarkMode(html),
    '<style>@media (min-width:0px){a{}} @media screen and (max-width:0px){b{}}</style>',
  )
  assert.equal([hasDarkStyles(html), hasDarkStyles(html)], [true, true])
})

test('a message with light styles alone has no dark ones', () => {
  assert.is(hasDarkStyles('<style>@media (prefers-color-scheme: light){a{}}</style>'), false)
  assert.is(inDarkMode('<p>dark</p>'), '<p>dark</p>')
})

test.run()
