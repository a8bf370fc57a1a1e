// What a node of Kubernetes does with the shipped manifests, without one: a pod is a process in its own network namespace
// and root file system, with its environment, volumes, user and probes. nftables has the network policies and the services'
// addresses, as kube-proxy's do; nginx is the ingress controller.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Container, PodSpec, Secret } from "kubernetes-types/core/v1.js"
import type { NetworkPolicyPeer, NetworkPolicyPort } from "kubernetes-types/networking/v1.js"
import { full, redisProgram, type TestProcess } from "@svc/testing"
import { vi } from "vitest"

import { makeCertificate } from "./certificate.ts"
import { type Labels, lookUp, type Manifest, selects } from "./kustomization.ts"
import { type Namespaces, openNamespaces, place, type Replica } from "./namespaces.ts"
import { image } from "./settings.ts"

const root = join(import.meta.dirname, "../..")
const networks = [
  { name: "cluster", prefix: "10.244.0." },
  { name: "outside", prefix: "198.18.54." },
]
/** This process on the cluster's network, as a node is. */
const node = "10.244.0.1"
export const internet = "198.18.54.1"
/** PostgreSQL's address, in place of the example's. */
export const databaseAddress = "198.18.54.10"
const own = "svc"

type Pod = Replica & {
  readonly namespace: string
  readonly labels: Labels
  readonly ip: string
  readonly spec: PodSpec | undefined
  readonly container: Container | undefined
}

/**
 * Makes the pods of rendered manifests, with room for one more of each deployment, and others that don't belong to them.
 * @param most the most replicas of a deployment
 */
export const openCluster = (
  folder: string,
  manifests: readonly Manifest[],
  secrets: readonly Secret[],
  most = Infinity,
) => {
  const filled = JSON.stringify(manifests).replaceAll("192.0.2.10/32", `${databaseAddress}/32`)
  const { ofKind, find } = lookUp(JSON.parse(filled) as Manifest[])
  const owners = [...ofKind("Deployment"), ...ofKind("Job")].map(({ metadata, spec }) => {
    const { template } = spec ?? {}
    const count = spec !== undefined && "replicas" in spec ? Math.min(spec.replicas ?? 1, most) + 1 : 1
    return { name: metadata?.name ?? "", count, labels: template?.metadata?.labels ?? {}, spec: template?.spec }
  })
  const others = { database: "", controller: "ingress-nginx", prometheus: "monitoring", stranger: "default" }
  const both = networks.map(({ name }) => name)
  const wanted = [
    ...Object.keys(others).map((name) => ({ name, service: name, on: name === "database" ? ["outside"] : both })),
    ...owners.flatMap(({ name, count }) =>
      Array.from({ length: count }, (_, index) => ({ name: `${name}-${index + 1}`, service: name, on: both })),
    ),
  ]
  const pods = place(networks, wanted).map(({ name, service, at }): Pod => {
    const owner = owners.find((one) => one.name === service)
    const namespace = owner === undefined ? (others[service as keyof typeof others] ?? "") : own
    const { labels = {}, spec } = owner ?? {}
    return { name, service, at, namespace, labels, ip: at.get("cluster") ?? "", spec, container: spec?.containers[0] }
  })
  const inside = pods.filter(({ ip }) => ip !== "")
  const pod = (name: string): Pod => pods.find((one) => one.name === name) ?? assert.fail(name)
  const namespaces: Namespaces = openNamespaces(networks, pods, both, ["outside"])
  const services = ofKind("Service").map(({ metadata, spec }, index) => ({
    name: metadata?.name ?? "",
    ip: `10.96.0.${index + 10}`,
    ports: spec?.ports ?? [],
    selector: spec?.selector ?? {},
  }))
  writeFileSync(
    join(folder, "hosts"),
    `127.0.0.1 localhost\n${services.map(({ name, ip }) => `${ip} ${name}\n`).join("")}`,
  )
  const portOf = ({ container }: Pod, port: string | number | undefined): number | undefined =>
    typeof port === "number" ? port : container?.ports?.find(({ name }) => name === port)?.containerPort

  // Network policies: what a policy of a direction selects is closed in it, but for what any such policy names.
  const peerAddresses = ({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer): readonly string[] => {
    if (ipBlock !== undefined) {
      if (ipBlock.cidr.includes(":")) return []
      const except = ipBlock.except ?? []
      return [`${ipBlock.cidr}${except.length === 0 ? "" : ` ip daddr != { ${except.join(", ")} }`}`]
    }
    return inside
      .filter(({ namespace }) =>
        namespaceSelector === undefined
          ? namespace === own
          : selects(namespaceSelector, { "kubernetes.io/metadata.name": namespace }),
      )
      .filter(({ labels }) => podSelector === undefined || selects(podSelector, labels))
      .map(({ ip }) => ip)
  }
  const rules = (one: Pod, direction: "Ingress" | "Egress"): readonly string[] => {
    const policies = ofKind("NetworkPolicy").filter(
      ({ spec }) =>
        one.namespace === own && spec?.policyTypes?.includes(direction) && selects(spec.podSelector, one.labels),
    )
    if (policies.length === 0) return ["accept"]
    const opened = policies.flatMap(({ spec }) =>
      direction === "Ingress"
        ? (spec?.ingress ?? []).map(({ from = [], ports = [] }) => ({ peers: from, ports }))
        : (spec?.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports })),
    )
    const side = direction === "Ingress" ? "saddr" : "daddr"
    const lines = opened.flatMap(({ peers, ports }) =>
      ports.flatMap(({ protocol, port }: NetworkPolicyPort) =>
        peers
          .flatMap(peerAddresses)
          .map((address) => `ip ${side} ${address} ${protocol?.toLowerCase()} dport ${portOf(one, port)} accept`),
      ),
    )
    return [...lines, "reject with icmp type admin-prohibited"]
  }
  const load = (one: Pod, text: string): Promise<string> => {
    const file = join(folder, `${one.name}.nft`)
    writeFileSync(file, text)
    return namespaces.net(one, "nft", "-f", file)
  }
  const used = new Set<string>()
  const ready = new Set<string>()
  const endpoints = (name: string): readonly Pod[] => {
    const { selector } = services.find((service) => service.name === name) ?? assert.fail(name)
    return inside.filter((one) => ready.has(one.name) && selects({ matchLabels: selector }, one.labels))
  }

  const ingress = ofKind("Ingress")
  /** What ingress-nginx makes of the manifests: its defaults, and the annotations. */
  const controllerSettings = (): string => {
    const set = ingress[0]?.metadata?.annotations ?? {}
    const annotation = (name: string, byDefault: string) => set[`nginx.ingress.kubernetes.io/${name}`] ?? byDefault
    const servers = ingress
      .flatMap(({ spec }) => spec?.rules ?? [])
      .flatMap(({ host, http }) =>
        (http?.paths ?? []).map(({ path, backend: { service } }) => {
          const name = service?.name ?? ""
          const port = services.find((one) => one.name === name)?.ports.find((one) => one.name === service?.port?.name)
          const to = endpoints(name).map(
            (one) => `server ${one.ip}:${portOf(one, port?.targetPort as string)} max_fails=0;`,
          )
          return `upstream ${name} { ${to.length === 0 ? "server 127.0.0.1:1;" : to.join(" ")} keepalive 320; keepalive_timeout 60s; }
          server { listen 443 ssl; server_name ${host}; location ${path} { proxy_pass http://${name}; } }`
        }),
      )
    return `user root; worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log stderr notice;
      events { worker_connections 1024; }
      http { access_log off; ssl_certificate ${folder}/tls.crt; ssl_certificate_key ${folder}/tls.key;
        client_body_temp_path ${folder}/bodies; client_max_body_size ${annotation("proxy-body-size", "1m")};
        proxy_http_version 1.1; proxy_buffering off; proxy_connect_timeout 5s;
        proxy_read_timeout ${annotation("proxy-read-timeout", "60")}s; proxy_send_timeout 60s;
        proxy_next_upstream ${annotation("proxy-next-upstream", "error timeout")}; proxy_next_upstream_tries 3;
        proxy_set_header Connection ""; proxy_set_header Host $host; proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Host $host;
        proxy_set_header X-Forwarded-Port 443; proxy_set_header X-Forwarded-Proto https;
        ${servers.join("\n")} }`
  }
  let controller: TestProcess | undefined
  const tellAll = async (): Promise<void> => {
    const lines = services.flatMap(({ name, ip, ports }) => {
      const to = endpoints(name)
      return ports.flatMap(({ port, targetPort }) => {
        const map = to.map((one, index) => `${index} : ${one.ip} . ${portOf(one, targetPort)}`).join(", ")
        const target = `dnat ip to numgen random mod ${to.length} map { ${map} }`
        return to.length === 0 ? [] : [`add rule ip pod services ip daddr ${ip} tcp dport ${port} ${target}`]
      })
    })
    const callers = inside.filter(({ namespace }) => namespace === own)
    await Promise.all(callers.map((one) => load(one, ["flush chain ip pod services", ...lines, ""].join("\n"))))
    writeFileSync(join(folder, "nginx.conf"), controllerSettings())
    if (controller === undefined) return
    const stopped = (): number => controller?.stderr().match(/gracefully shutting down/g)?.length ?? 0
    const before = stopped()
    controller.kill("SIGHUP")
    // The worker with the former configuration accepts nothing any more.
    await vi.waitFor(() => assert.ok(stopped() > before), { timeout: 20_000 })
  }

  let telling = Promise.resolve()
  /** Tells every pod and the ingress controller which pods are ready. */
  const publish = (): Promise<void> => (telling = telling.then(tellAll))

  const valueOf = (name: string | undefined, key: string): string => {
    const data = secrets.find(({ metadata }) => metadata?.name === name)?.data?.[key]
    return Buffer.from(data ?? assert.fail(`${name} has no ${key}`), "base64").toString()
  }
  const environmentOf = ({ container }: Pod): Record<string, string> => {
    const from = (container?.envFrom ?? []).map(({ configMapRef, secretRef }) => {
      if (configMapRef !== undefined) return find("ConfigMap", configMapRef.name ?? "").data
      const keys = Object.keys(secrets.find(({ metadata }) => metadata?.name === secretRef?.name)?.data ?? {})
      return Object.fromEntries(keys.map((key) => [key, valueOf(secretRef?.name, key)]))
    })
    const named = (container?.env ?? []).map(({ name, value, valueFrom }) => {
      const ref = valueFrom?.secretKeyRef
      return [name, ref === undefined ? (value ?? "") : valueOf(ref.name, ref.key)]
    })
    return Object.assign({}, image, ...from, Object.fromEntries(named)) as Record<string, string>
  }
  // Node's compiled code, one folder for each user.
  const compiled = join(root, "node_modules/.cache/compile-pods")
  /** The script that becomes the container's process, or another one with its arguments in the same place. */
  const script = (one: Pod, args = one.container?.args ?? []): string => {
    const { spec, container } = one
    const { runAsUser = 0, runAsGroup = 0, fsGroup = 0 } = spec?.securityContext ?? {}
    const base = join(folder, one.name)
    mkdirSync(base, { recursive: true })
    const isReadOnly = container?.securityContext?.readOnlyRootFilesystem === true
    const bound = ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", root, dirname(process.execPath)]
    const volumes = (container?.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
      const volume = spec?.volumes?.find((candidate) => candidate.name === name)
      const size = volume?.emptyDir?.sizeLimit?.replace("Mi", "m")
      const at = `${base}${mountPath}`
      const mode = volume?.secret === undefined ? "2777" : "0755"
      const mount = `mkdir -p ${at} && mount -t tmpfs -o mode=${mode},gid=${fsGroup}${size === undefined ? "" : `,size=${size}`} tmpfs ${at}`
      const { secretName, defaultMode = 0o644 } = volume?.secret ?? {}
      const data = secrets.find(({ metadata }) => metadata?.name === secretName)?.data ?? {}
      const files = Object.entries(data).map(([key, value]) => {
        const file = `${at}/${key}`
        return `base64 -d <<< ${value} > ${file} && chown 0:${fsGroup} ${file} && chmod ${defaultMode.toString(8)} ${file}`
      })
      return [mount].concat(files)
    })
    const steps = [
      `mount -t tmpfs tmpfs ${base}`,
      ...volumes,
      ...bound.map(
        (path) => `if [ -d ${path} ]; then mkdir -p ${base}${path} && mount -o bind,ro ${path} ${base}${path}; fi`,
      ),
      `mkdir -p ${compiled} ${base}/proc ${base}/dev && chmod 1777 ${compiled} && mount --bind ${compiled} ${base}${compiled}`,
      `mount --bind /proc ${base}/proc && mount --bind /dev ${base}/dev && mount --bind ${folder}/hosts ${base}/etc/hosts`,
      ...(isReadOnly ? [`mount -o remount,ro ${base}`] : []),
    ]
    const app = /svc\/([a-z-]+):/.exec(container?.image ?? "")?.[1]
    const command =
      app === undefined
        ? // As in the image, whose folder is /data.
          [redisProgram() ?? "", ...(container?.command ?? []).slice(1), "--dir", "/data"]
        : [process.execPath, "src/main.ts", ...args]
    const folderOf = app === undefined ? "/data" : join(root, "apps", app)
    const ids = `--reuid ${runAsUser} --regid ${runAsGroup} --groups ${fsGroup}`
    const rights = "--no-new-privs --bounding-set=-all --inh-caps=-all"
    const quoted = command.map((word) => `'${word}'`).join(" ")
    return `set -e; ${steps.join("; ")}; exec chroot ${base} setpriv ${ids} ${rights} env --chdir=${folderOf} ${quoted}`
  }
  const environment = (one: Pod) => ({ NODE_COMPILE_CACHE: compiled, ...environmentOf(one) })

  const probe = async (one: Pod, which: "startupProbe" | "livenessProbe" | "readinessProbe"): Promise<void> => {
    const { httpGet, timeoutSeconds = 1 } = one.container?.[which] ?? {}
    if (httpGet === undefined) return
    const url = `http://${one.ip}:${portOf(one, httpGet.port)}${httpGet.path}`
    const { status } = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1000) })
    assert.equal(status, 200, `${url} returns ${status}: ${namespaces.of(one.name).stdout()}`)
  }
  const begin = async (one: Pod): Promise<void> => {
    const child = await namespaces.start(one, script(one), /"msg":"listening"|Ready to accept/, environment(one))
    const died = child.exited.then((code) => assert.fail(`${one.name} ended (${code}): ${child.stdout()}`))
    died.catch(() => {})
    const { failureThreshold = 3, periodSeconds = 10 } = one.container?.startupProbe ?? {}
    await vi.waitFor(() => probe(one, "startupProbe"), { timeout: failureThreshold * periodSeconds * 1000 })
    for (const which of ["livenessProbe", "readinessProbe"] as const)
      await Promise.race([died, vi.waitFor(() => probe(one, which), { timeout: 40_000, interval: 200 })])
  }

  return {
    pods: inside,
    pod,
    namespaces,
    services,
    replicasOf: (deployment: string): number => (owners.find(({ name }) => name === deployment)?.count ?? 1) - 1,
    running: (deployment: string): readonly Pod[] =>
      inside.filter(({ name, service }) => service === deployment && ready.has(name)),
    /** A pod of a deployment that can be started. */
    spare: (deployment: string): Pod => {
      const one =
        inside.find(({ name, service }) => service === deployment && !used.has(name)) ?? assert.fail(deployment)
      used.add(one.name)
      return one
    },
    publish,
    close: async (): Promise<void> => {
      // Otherwise its workers would live on.
      controller?.kill("SIGTERM")
      await controller?.exited
      await namespaces.close()
    },
    /** Closes every pod as the policies say, and starts the ingress controller. */
    open: async (): Promise<void> => {
      const hosts = ingress.flatMap(({ spec }) => spec?.rules?.map(({ host }) => host ?? "") ?? [])
      makeCertificate(join(folder, "tls.key"), join(folder, "tls.crt"), hosts, 2)
      await Promise.all(
        inside.map(async (one) => {
          await namespaces.net(one, "ip", "route", "add", "10.96.0.0/24", "dev", `br0e${pods.indexOf(one)}`)
          const known = "ct state established,related accept"
          const chain = (name: string, hook: string, lines: readonly string[] = []) =>
            `chain ${name} { type ${hook}; policy accept;\n${lines.join("\n")}\n}`
          return load(
            one,
            `table ip pod {
              ${chain("services", "nat hook output priority -100")}
              ${chain("incoming", "filter hook input priority filter", [known, `ip saddr { 127.0.0.0/8, ${node} } accept`, ...rules(one, "Ingress")])}
              ${chain("outgoing", "filter hook output priority filter", [known, "ip daddr 127.0.0.0/8 accept", ...rules(one, "Egress")])}
            }\n`,
          )
        }),
      )
      await publish()
      controller = await namespaces.start(
        pod("controller"),
        `exec nginx -p ${folder} -c ${folder}/nginx.conf`,
        /start worker process /,
      )
    },
    /** Runs an operator command in a pod's place: its environment, secrets and network. */
    exec: (one: Pod, args?: string[]): Promise<string> => namespaces.run(one, script(one, args), environment(one)),
    /** Starts a pod and waits for its probes. It gets requests with the next `publish`. */
    start: async (one: Pod): Promise<void> => {
      await begin(one)
      ready.add(one.name)
    },
    /**
     * Ends a pod: it gets no requests from the next `publish` on, runs its preStop hook (in the full form), gets SIGTERM once
     * everybody was `told`, and is killed after its grace period. Resolves with how it ended.
     */
    stop: async (one: Pod, told: Promise<void>): Promise<number | NodeJS.Signals | null> => {
      ready.delete(one.name)
      const child = namespaces.of(one.name)
      const killer = setTimeout(() => child.kill("SIGKILL"), (one.spec?.terminationGracePeriodSeconds ?? 30) * 1000)
      const hook = one.container?.lifecycle?.preStop?.exec?.command ?? []
      if (full && hook.length > 0) await namespaces.run(one, hook.join(" "))
      await told
      child.kill("SIGTERM")
      const ending = await child.exited
      clearTimeout(killer)
      used.delete(one.name)
      return ending
    },
    /** Kills a pod's process; it gets no requests from the next `publish` on. */
    kill: async (one: Pod): Promise<void> => {
      ready.delete(one.name)
      const child = namespaces.of(one.name)
      child.kill("SIGKILL")
      await child.exited
    },
  }
}
export type Cluster = ReturnType<typeof openCluster>
