type Props = {
  readonly all: readonly string[]
  readonly shown: readonly string[]
  readonly onChange: (shown: readonly string[]) => void
}

/** Lets a reader choose the columns. */
export const ColumnsMenu = ({ all, shown, onChange }: Props) => (
  <details class="columns-menu">
    <summary>Columns</summary>
    <fieldset aria-label="Columns that are shown">
      {all.map((path) => (
        <label key={path}>
          <input
            type="checkbox"
            checked={shown.includes(path)}
            onChange={() => onChange(all.filter((one) => shown.includes(one) !== (one === path)))}
          />{" "}
          {path}
        </label>
      ))}
    </fieldset>
  </details>
)
