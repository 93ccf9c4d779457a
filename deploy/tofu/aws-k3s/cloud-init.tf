# User data can be read by everything on a machine and by everybody who may describe it. It has two secrets of the node: a
# token for its own secrets, which only the first address that uses it can use, for two hours at most; and a token that can
# do nothing but report.

locals {
  domain = startswith(var.region, "cn-") ? "amazonaws.com.cn" : "amazonaws.com"

  # The control plane puts its snapshots there, and begins with one of them where it takes the place of another machine.
  data = {
    snapshot_bucket = var.snapshot_bucket == "" ? null : {
      name     = var.snapshot_bucket
      region   = var.region
      endpoint = "s3.${var.region}.${local.domain}"
    }
    restored_snapshot = var.restored_snapshot
  }

  # Nothing in the cluster is reached through a proxy, nor is the metadata service. Pods and services have 10.42.0.0/15.
  no_proxy = join(",", distinct(concat(var.no_proxy, [
    "localhost", "127.0.0.0/8", "169.254.169.254", var.network_range, "10.42.0.0/15", ".svc", ".cluster.local",
  ])))
  # Values of the charts: programs in pods call AWS too, and have nothing of the environment of k3s.
  controller_proxy = var.proxy == "" ? {} : {
    env = [
      { name = "HTTP_PROXY", value = var.proxy },
      { name = "HTTPS_PROXY", value = var.proxy },
      { name = "NO_PROXY", value = local.no_proxy },
    ]
  }
  driver_proxy = var.proxy == "" ? {} : { proxy = { http_proxy = var.proxy, no_proxy = local.no_proxy } }

  # The boot script makes the ConfigMap: jobs that install charts have nothing of the machine's own authorities.
  authorities = var.chart_repository != "" && var.has_ca_certificates ? { repoCAConfigMap = { name = "binnacle-ca-certificates" } } : {}

  # Until the cloud controller has seen a node, Kubernetes starts nothing else on it.
  cloud_controller = yamlencode({
    apiVersion = "helm.cattle.io/v1"
    kind       = "HelmChart"
    metadata   = { name = "aws-cloud-controller-manager", namespace = "kube-system" }
    spec = merge(local.authorities, {
      repo            = coalesce(var.chart_repository, "https://kubernetes.github.io/cloud-provider-aws")
      chart           = "aws-cloud-controller-manager"
      version         = "0.0.11"
      targetNamespace = "kube-system"
      bootstrap       = true
      valuesContent = yamlencode(merge(local.controller_proxy, {
        hostNetworking = true
        nodeSelector   = { "node-role.kubernetes.io/control-plane" = "true" }
        args = [
          "--v=2",
          "--cloud-provider=aws",
          "--cluster-name=${var.cluster_id}",
          "--configure-cloud-routes=false",
          "--allocate-node-cidrs=false",
        ]
      }))
    })
  })

  # Volumes are disks of EBS, which outlive their machines. The class is the only one, and so the default.
  disks = join("---\n", [for object in [
    {
      apiVersion = "helm.cattle.io/v1"
      kind       = "HelmChart"
      metadata   = { name = "aws-ebs-csi-driver", namespace = "kube-system" }
      spec = merge(local.authorities, {
        repo            = coalesce(var.chart_repository, "https://kubernetes-sigs.github.io/aws-ebs-csi-driver")
        chart           = "aws-ebs-csi-driver"
        version         = "2.49.0"
        targetNamespace = "kube-system"
        valuesContent = yamlencode(merge(local.driver_proxy, {
          controller = {
            replicaCount    = 1
            region          = var.region
            k8sTagClusterId = var.cluster_id
            # By it the policy of the credential allows to delete them.
            extraVolumeTags = { "binnacle:cluster" = var.cluster_id }
            nodeSelector    = { "node-role.kubernetes.io/control-plane" = "true" }
          }
          storageClasses = [{
            name                 = "gp3"
            annotations          = { "storageclass.kubernetes.io/is-default-class" = "true" }
            volumeBindingMode    = "WaitForFirstConsumer"
            allowVolumeExpansion = true
            parameters           = { type = "gp3", encrypted = "true" }
          }]
        }))
      })
    },
    # Only what shares the network of the machine reaches the metadata service, and with it the role. The chart has no value for that.
    {
      apiVersion = "admissionregistration.k8s.io/v1"
      kind       = "MutatingAdmissionPolicy"
      metadata   = { name = "ebs-csi-controller.binnacle.dev" }
      spec = {
        failurePolicy      = "Fail"
        reinvocationPolicy = "Never"
        matchConstraints = {
          namespaceSelector = { matchLabels = { "kubernetes.io/metadata.name" = "kube-system" } }
          resourceRules = [{
            apiGroups   = ["apps"]
            apiVersions = ["v1"]
            operations  = ["CREATE", "UPDATE"]
            resources   = ["deployments"]
          }]
        }
        matchConditions = [{ name = "name", expression = "object.metadata.name == 'ebs-csi-controller'" }]
        mutations = [{
          patchType = "ApplyConfiguration"
          applyConfiguration = {
            expression = "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet'}}}}"
          }
        }]
      }
    },
    {
      apiVersion = "admissionregistration.k8s.io/v1"
      kind       = "MutatingAdmissionPolicyBinding"
      metadata   = { name = "ebs-csi-controller.binnacle.dev" }
      spec       = { policyName = "ebs-csi-controller.binnacle.dev" }
    },
  ] : yamlencode(object)])

  # The same for all nodes.
  bootstrap = {
    public_url  = trimsuffix(var.public_url, "/")
    cluster_id  = var.cluster_id
    k3s_version = var.k3s_version
    k3s_sha256  = var.k3s_sha256
    k3s_images  = length(var.k3s_images_sha256) == 0 ? null : var.k3s_images_sha256
    k3s_url     = var.k3s_url
    proxy       = var.proxy == "" ? null : { url = var.proxy, exceptions = local.no_proxy }
  }

  # Those of nodes that exist are empty, and changes of user data are ignored.
  tokens = {
    for name in concat(["control-plane"], keys(local.agents)) :
    name => { token = lookup(var.node_tokens, name, ""), report_token = lookup(var.report_tokens, name, "") }
  }

  control_plane_user_data = templatefile("${path.module}/cloud-init.yaml.tftpl", {
    node      = merge(local.bootstrap, local.data, local.tokens["control-plane"], { node = "control-plane", server = "" })
    script    = file("${path.module}/bootstrap.sh")
    manifests = { "aws-cloud-controller-manager" = local.cloud_controller, "aws-ebs-csi-driver" = local.disks }
  })
}
