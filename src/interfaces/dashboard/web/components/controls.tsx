/** Form controls: buttons, fields, selects and switches. */
import type { ComponentChildren, JSX, Ref, RefObject } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { faultWords } from '../labels/faults.ts'
import { Icon, type IconName } from './icons.tsx'

interface ButtonProps {
  children?: ComponentChildren
  kind?: 'main' | 'bad' | 'plain' | undefined
  icon?: IconName
  small?: boolean
  type?: 'button' | 'submit'
  disabled?: boolean | undefined
  /** Accessible name of a button without text, or with a text that is short for it. */
  label?: string
  /** Whether what the button opens is open. */
  expanded?: boolean
  /** The button saves an editor, and so does Ctrl+S. */
  saves?: boolean
  onClick?: (event: MouseEvent) => void
}

export function Button({
  children,
  kind,
  icon,
  small,
  type = 'button',
  label,
  expanded,
  saves,
  ...rest
}: ButtonProps) {
  const classes = [
    'button',
    kind && `button-${kind}`,
    small && 'button-small',
    children === undefined && 'button-icon',
  ]
  return (
    <button
      type={type}
      class={classes.filter(Boolean).join(' ')}
      {...(label && { 'aria-label': label, title: label })}
      {...(expanded !== undefined && { 'aria-expanded': expanded })}
      {...(saves && { 'data-save': '' })}
      {...rest}
    >
      {icon && <Icon name={icon} size={16} />}
      {children}
    </button>
  )
}

export function LinkButton({
  href,
  children,
  kind,
  icon,
}: {
  href: string
  children: ComponentChildren
  kind?: 'main'
  icon?: IconName
}) {
  return (
    <Link href={href} class={kind ? `button button-${kind}` : 'button'}>
      {icon && <Icon name={icon} size={16} />}
      {children}
    </Link>
  )
}

interface FieldProps {
  label: string
  hint?: ComponentChildren
  fault?: string | undefined
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: 'true' }) => ComponentChildren
}

export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId()
  const described = [hint ? `${id}-hint` : '', fault ? `${id}-fault` : ''].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described !== '' && { 'aria-describedby': described }),
        ...(fault && { 'aria-invalid': 'true' as const }),
      })}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && (
        <span class="fault" id={`${id}-fault`}>
          {faultWords(fault, label)}
        </span>
      )}
    </div>
  )
}

type InputProps = Omit<JSX.IntrinsicElements['input'], 'value' | 'onInput' | 'label'> & {
  label: string
  value: string
  onValue: (value: string) => void
  hint?: ComponentChildren
  fault?: string | undefined
}

export function TextField({ label, value, onValue, hint, fault, ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {ids => (
        <input
          class="input"
          value={value}
          onInput={event => onValue(event.currentTarget.value)}
          {...rest}
          {...ids}
        />
      )}
    </Field>
  )
}

interface AreaProps {
  label: string
  value: string
  onValue: (value: string) => void
  rows?: number
  code?: boolean
  hint?: ComponentChildren
  fault?: string | undefined
  placeholder?: string
}

export function AreaField({ label, value, onValue, rows = 5, code, hint, fault, placeholder }: AreaProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {ids => (
        <textarea
          class={code ? 'input code' : 'input'}
          rows={rows}
          value={value}
          spellcheck={!code}
          {...(placeholder && { placeholder })}
          onInput={event => onValue(event.currentTarget.value)}
          {...ids}
        />
      )}
    </Field>
  )
}

interface ChooseProps {
  label: string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  onValue: (value: string) => void
  hint?: ComponentChildren
  fault?: string | undefined
}

export function Choose({ label, value, options, onValue, hint, fault }: ChooseProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {ids => (
        <select class="input" value={value} onChange={event => onValue(event.currentTarget.value)} {...ids}>
          {options.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface SwitchProps {
  label: string
  hint: string
  checked: boolean
  onChange: (checked: boolean) => void
}

export function Switch({ label, hint, checked, onChange }: SwitchProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        aria-checked={checked}
        onChange={event => onChange(event.currentTarget.checked)}
      />
      <span>
        <b>{label}</b>
        <span class="quiet small">{hint}</span>
      </span>
    </label>
  )
}

/** Segmented control: a few mutually exclusive options. */
export function Choices<T extends string>({
  label,
  value,
  options,
  onValue,
}: {
  label: string
  value: T
  options: readonly (readonly [value: T, label: string])[]
  onValue: (value: T) => void
}) {
  return (
    <fieldset class="choices" aria-label={label}>
      {options.map(([one, words]) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onValue(one)}>
          {words}
        </button>
      ))}
    </fieldset>
  )
}

/** Shows text with a copy button. */
export function Copy({ text, block, label = 'Copy' }: { text: string; block?: boolean; label?: string }) {
  const shown = useRef<HTMLElement>(null)
  return (
    <span class="copy">
      {block ? <pre ref={shown as Ref<HTMLPreElement>}>{text}</pre> : <code ref={shown}>{text}</code>}
      <CopyButton text={text} label={label} shown={shown} />
    </span>
  )
}

interface CopyButtonProps {
  text: string
  label: string
  /** Element with the text, which is selected if the browser does not copy. */
  shown?: RefObject<HTMLElement>
}

export function CopyButton({ text, label, shown }: CopyButtonProps) {
  const [result, setResult] = useState<'copied' | 'failed'>()
  const copy = async () => {
    const isCopied = await copyText(text)
    if (!isCopied && shown?.current) getSelection()?.selectAllChildren(shown.current)
    setResult(isCopied ? 'copied' : 'failed')
    setTimeout(() => setResult(undefined), isCopied ? 1_600 : 6_000)
  }
  return (
    <>
      <Button
        small
        icon={result === 'copied' ? 'check' : 'copy'}
        label={result === 'copied' ? 'Copied' : label}
        onClick={copy}
      />
      <span role="status" class="quiet">
        {result === 'failed' && 'Press Ctrl+C to copy.'}
      </span>
    </>
  )
}

/**
 * Copies a text. Browsers offer the clipboard only to pages of https and localhost; elsewhere the selection
 * is copied.
 */
async function copyText(text: string): Promise<boolean> {
  const { clipboard } = navigator as { clipboard?: Clipboard }
  if (clipboard)
    return clipboard.writeText(text).then(
      () => true,
      () => copySelection(text),
    )
  return copySelection(text)
}

function copySelection(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  Object.assign(field.style, { position: 'fixed', top: '0', opacity: '0' })
  // inside an open dialog, since what is outside cannot be focused
  const dialogs = document.querySelectorAll('dialog[open]')
  const parent = dialogs[dialogs.length - 1] ?? document.body
  parent.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
