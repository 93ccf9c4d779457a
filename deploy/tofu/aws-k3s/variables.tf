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

variable "network_range" {
  description = "The range of the VPC. It must not overlap 10.42.0.0/15, which pods and services have."
  type        = string
  default     = "10.64.0.0/16"
}
