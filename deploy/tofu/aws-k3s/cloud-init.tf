# User data can be read by everything on a machine and by everybody who may describe it. It has two secrets of the node: a
# token for its own secrets, which only the first address that uses it can use, for two hours at most; and a token that can
# do nothing but report.

locals {
  k3s = {
    version = "v1.37.1+k3s1"
    # Of the files k3s and k3s-arm64 of the release.
    sha256 = {
      x86_64  = "92b94582eb7b34a8cf532e6006842b9ed215a6783cf56a3dd6271fd35243b2c0"
      aarch64 = "a1561ca4aef8b99f5588a840d4468ac39c8c1cd92470bbcb9634823fa221741a"
    }
  }

  # Until the cloud controller has seen a node, Kubernetes starts nothing else on it.
  cloud_controller = yamlencode({
    apiVersion = "helm.cattle.io/v1"
    kind       = "HelmChart"
    metadata   = { name = "aws-cloud-controller-manager", namespace = "kube-system" }
    spec = {
      repo            = "https://kubernetes.github.io/cloud-provider-aws"
      chart           = "aws-cloud-controller-manager"
      version         = "0.0.11"
      targetNamespace = "kube-system"
      bootstrap       = true
      valuesContent = yamlencode({
        hostNetworking = true
        nodeSelector   = { "node-role.kubernetes.io/control-plane" = "true" }
        args = [
          "--v=2",
          "--cloud-provider=aws",
          "--cluster-name=${var.cluster_id}",
          "--configure-cloud-routes=false",
          "--allocate-node-cidrs=false",
        ]
      })
    }
  })

  # The same for all nodes.
  bootstrap = {
    public_url  = trimsuffix(var.public_url, "/")
    cluster_id  = var.cluster_id
    k3s_version = local.k3s.version
    k3s_sha256  = local.k3s.sha256
  }

  # Those of nodes that exist are empty, and changes of user data are ignored.
  tokens = {
    for name in concat(["control-plane"], keys(local.agents)) :
    name => { token = lookup(var.node_tokens, name, ""), report_token = lookup(var.report_tokens, name, "") }
  }

  control_plane_user_data = templatefile("${path.module}/cloud-init.yaml.tftpl", {
    node      = merge(local.bootstrap, local.tokens["control-plane"], { node = "control-plane", server = "" })
    script    = file("${path.module}/bootstrap.sh")
    manifests = { "aws-cloud-controller-manager" = local.cloud_controller }
  })
}
