import type { ComponentProps } from "preact"

type ChoiceProps<Value> = {
  readonly label: string
  readonly chosen: Value | undefined
  readonly from: readonly (readonly [value: Value, text: string])[]
  readonly onChoose: (value: Value) => void
}

export const Choice = <Value extends string | number>({ label, chosen, from, onChoose }: ChoiceProps<Value>) => (
  <label>
    {label}{" "}
    <select
      value={chosen}
      onChange={({ currentTarget }) => {
        const [value] = from[currentTarget.selectedIndex] ?? []
        if (value !== undefined) onChoose(value)
      }}
    >
      {from.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

type TextProps = ComponentProps<"input"> & { readonly label: string; readonly onText: (text: string) => void }

export const TextField = ({ label, onText, ...attributes }: TextProps) => (
  <label>
    {label} <input {...attributes} onInput={({ currentTarget }) => onText(currentTarget.value)} />
  </label>
)
