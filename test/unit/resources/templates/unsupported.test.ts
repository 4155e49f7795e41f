import * as assert from 'uvu/assert'
import { unsupportedTag, unsupportedTags } from '../../../../src/resources/templates/unsupported.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates: unsupported tags')

const refused: [text: string, shown: string, position: string][] = [
  ['{{#each items}}x{{/each}}', '{{#each items}}', 'line 1, column 1'],
  ['a\n  {{#if paid}}', '{{#if paid}}', 'line 2, column 3'],
  ['a\r\nb {{ / each }}', '{{ / each }}', 'line 2, column 3'],
  ['{{^paid}}', '{{^paid}}', 'line 1, column 1'],
  ['{{> footer}}', '{{> footer}}', 'line 1, column 1'],
  ['{{&name}}', '{{&name}}', 'line 1, column 1'],
  ['{{! note }}', '{{! note }}', 'line 1, column 1'],
  ['{{!-- note --}}', '{{!-- note --}}', 'line 1, column 1'],
  ['{{~#if x}}', '{{~#if x}}', 'line 1, column 1'],
  ['{{{#x}}}', '{{{#x}}', 'line 1, column 1'],
  ['{{name}} {{else}}', '{{else}}', 'line 1, column 10'],
  ['{{else if x}}', '{{else if x}}', 'line 1, column 1'],
  ['{{if .Paid}}', '{{if .Paid}}', 'line 1, column 1'],
  ['{{ range $i }}', '{{ range $i }}', 'line 1, column 1'],
  ['{% if paid %}', '{% if paid %}', 'line 1, column 1'],
  ['{%- endfor -%}', '{%- endfor -%}', 'line 1, column 1'],
  ['{%else%}', '{%else%}', 'line 1, column 1'],
  ['Hi {{name', '{{name', 'line 1, column 4'],
  ['Hi {{name}, {{city}}', '{{name}, {{city}}', 'line 1, column 4'],
  ['Hi {{ name {{city}}', '{{ name {{city}}', 'line 1, column 4'],
  ['{{Vorname\nund mehr', '{{Vorname', 'line 1, column 1'],
  ['{{ name | default: "there" }}', '{{ name | default: "there" }}', 'line 1, column 1'],
  ["{{ name|default('there') }}", "{{ name|default('there') }}", 'line 1, column 1'],
  ['{{ name | capitalize | default: "x" }}', '{{ name | capitalize | default: "x" }}', 'line 1, column 1'],
  ['{{ day | date: "%d.%m." }}', '{{ day | date: "%d.%m." }}', 'line 1, column 1'],
  ['{{ .Name }}', '{{ .Name }}', 'line 1, column 1'],
  ['{{- name -}}', '{{- name -}}', 'line 1, column 1'],
  [`{{#${'x'.repeat(90)}}}`, `{{#${'x'.repeat(37)}`, 'line 1, column 1'],
]
for (const [text, shown, position] of refused)
  test(`templates: ${JSON.stringify(text.slice(0, 40))} is refused with its position`, () => {
    const tag = unsupportedTag(text)
    assert.ok(tag?.fault.startsWith(`contains \`${shown}\` at ${position}: `), tag?.fault)
  })

const accepted = [
  '{{name}} {{{name}}} {{ a.b.0 }} {{name|there}} {{name|}} {{name | default}}',
  '{{name|friend (you)}} {{name|Room:5}} {{name|at 12:30}} {{name|- none -}} {{-1}}',
  '{{elsewhere}} {{if}} {{for customers}} {{_x}} {{Straße}}',
  'a {b} {#c} @media x{#id{color:red}} {} {{}} {{ 1 + 1 }} 100%{%}',
  '<script type="application/ld+json">{"a":{"price":{{price}}}}</script>',
  '{{"{{#literal}}"}}'.replace('{{#', '&#123;&#123;#'),
  '}} %} {',
]
for (const text of accepted)
  test(`templates: ${JSON.stringify(text.slice(0, 60))} is accepted`, () => {
    assert.is(unsupportedTag(text), undefined)
  })

test('templates: unsupported tags are listed in their order, up to a number', () => {
  const text = '{{#if a}}{{name}}{{else}}\n{% x %}{{/if}}'
  const shown = (tagsMax: number) =>
    unsupportedTags(text, tagsMax).map(({ fault, line }) => [/`(.*?)`/.exec(fault)![1], line])
  const all = [
    ['{{#if a}}', 1],
    ['{{else}}', 1],
    ['{% x %}', 2],
    ['{{/if}}', 2],
  ]
  assert.equal(shown(9), all)
  assert.equal(shown(2), all.slice(0, 2))
})

test('templates: hostile texts are searched in linear time', () => {
  const size = 1_000_000
  for (const piece of ['{{', '{', '{{ ', '{{}', '{% ', '{%                    ', '{{1 '])
    assertLinear(piece, count => unsupportedTag(piece.repeat(count)), size / piece.length / 4)
})

test.run()
