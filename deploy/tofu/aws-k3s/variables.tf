variable "cluster_id" {
  description = "The id of the cluster in Binnacle."
  type        = string
  validation {
    condition     = can(regex("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", var.cluster_id))
    error_message = "The id of the cluster is a UUID."
  }
}

variable "job_id" {
  description = "The id of the provisioning job that creates what is missing."
  type        = string
}

variable "name" {
  description = "The name of the cluster, for people who look at the account."
  type        = string
}

variable "region" {
  type = string
}

variable "instance_type" {
  type = string
}

variable "disk_size_gb" {
  description = "The size of the disk of each machine."
  type        = number
  validation {
    condition     = var.disk_size_gb >= 8 && var.disk_size_gb <= 16384
    error_message = "The disk of a machine has 8 to 16384 GB."
  }
}

variable "agent_count" {
  description = "The number of machines beside the control plane."
  type        = number
  validation {
    condition     = var.agent_count >= 0 && floor(var.agent_count) == var.agent_count
    error_message = "The number of agents is a whole number."
  }
}

variable "ssh_public_key" {
  type = string
}

variable "admin_ranges" {
  description = "The ranges, in CIDR notation, from which the Kubernetes API and SSH can be reached; none closes both."
  type        = list(string)
  default     = []
  validation {
    condition     = alltrue([for range in var.admin_ranges : can(cidrhost(range, 0))])
    error_message = "A range is written like 203.0.113.0/24 or 2001:db8::/32."
  }
  validation {
    condition     = alltrue([for range in var.admin_ranges : !endswith(range, "/0")])
    error_message = "A range that covers the whole internet opens the Kubernetes API to everybody; name the networks of your administrators."
  }
}

variable "public_url" {
  description = "The address of Binnacle, as the machines reach it."
  type        = string
  validation {
    condition     = can(regex("^https?://[A-Za-z0-9.:_\\[\\]/-]+$", var.public_url))
    error_message = "The address of Binnacle starts with https:// or http://."
  }
}

variable "node_tokens" {
  description = "The tokens with which machines that do not exist yet fetch their secrets, by the name of the node."
  type        = map(string)
  default     = {}
  sensitive   = true
}

variable "report_tokens" {
  description = "The tokens with which machines that do not exist yet report how far they are, by the name of the node."
  type        = map(string)
  default     = {}
  sensitive   = true
}

variable "k3s_version" {
  description = "The release of k3s, which is that of the cluster."
  type        = string
  validation {
    condition     = can(regex("^v[0-9]+\\.[0-9]+\\.[0-9]+\\+k3s[0-9]+$", var.k3s_version))
    error_message = "A release of k3s is written like v1.37.1+k3s1."
  }
}

variable "k3s_sha256" {
  description = "The checksums of the files k3s and k3s-arm64 of the release, by the machines that run them: x86_64 and aarch64."
  type        = map(string)
}

variable "k3s_images_sha256" {
  description = "The checksums of the archives of the images of k3s, as k3s_sha256; machines pull the images if it is empty."
  type        = map(string)
  default     = {}
  validation {
    condition     = alltrue([for checksum in values(var.k3s_images_sha256) : can(regex("^[0-9a-f]{64}$", checksum))])
    error_message = "A checksum has 64 hexadecimal digits."
  }
}

variable "k3s_url" {
  description = "Where machines download releases of k3s; from its project if empty."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~%+-]+)*)?$", var.k3s_url))
    error_message = "An address starts with https:// or http:// and has no password."
  }
}

variable "proxy" {
  description = "The HTTP proxy through which machines reach what is outside of their network; none if empty."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(http://[A-Za-z0-9.-]+(:[0-9]+)?)?$", var.proxy))
    error_message = "A proxy is written like http://proxy.example.com:3128 and has no password."
  }
}

variable "no_proxy" {
  description = "What is reached without the proxy, beside what the cluster needs."
  type        = list(string)
  default     = []
  validation {
    condition     = alltrue([for exception in var.no_proxy : can(regex("^[A-Za-z0-9.:/-]+$", exception))])
    error_message = "What is reached without the proxy is a host, a domain or a range."
  }
}

variable "chart_repository" {
  description = "The Helm repository with the charts of the module; those of their projects if empty."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~%+-]+)*)?$", var.chart_repository))
    error_message = "The address of a chart repository starts with https:// and has no password."
  }
}

variable "has_ca_certificates" {
  description = "Whether the cluster has authorities of its own, which machines fetch with their secrets."
  type        = bool
  default     = false
}

variable "snapshot_bucket" {
  description = "The bucket, in the region of the cluster, that the control plane puts snapshots of its data into; none if empty."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$", var.snapshot_bucket))
    error_message = "The name of a bucket has 3 to 63 small letters, digits, dots and hyphens."
  }
}

variable "restored_snapshot" {
  description = "The snapshot that a new control plane begins with, which is in the bucket; none if empty."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^([A-Za-z0-9][A-Za-z0-9._-]*)?$", var.restored_snapshot))
    error_message = "The name of a snapshot has letters, digits, dots, hyphens and underscores."
  }
}

variable "permissions_boundary" {
  description = "The policy that limits the role of the control plane; none if empty."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(arn:[a-z-]+:iam::[0-9]{12}:policy/.+)?$", var.permissions_boundary))
    error_message = "A policy is written like arn:aws:iam::123456789012:policy/binnacle-boundary."
  }
}

variable "role_arn" {
  description = "The role to act as; none if empty."
  type        = string
  default     = ""
}

variable "external_id" {
  description = "What the trust policy of the role asks for."
  type        = string
  default     = ""
}

variable "network_range" {
  description = "The range of the VPC. It must not overlap 10.42.0.0/15, which pods and services have."
  type        = string
  default     = "10.64.0.0/16"
}
