mock_provider "aws" {
  mock_data "aws_availability_zones" {
    defaults = { names = ["eu-west-1c", "eu-west-1a", "eu-west-1b"] }
  }
  mock_data "aws_ec2_instance_type_offerings" {
    defaults = { locations = ["eu-west-1a", "eu-west-1c"] }
  }
  mock_data "aws_ec2_instance_type" {
    defaults = { supported_architectures = ["x86_64"] }
  }
  mock_data "aws_ami" {
    defaults = { id = "ami-0123456789abcdef0", architecture = "x86_64" }
  }
  mock_resource "aws_vpc" {
    defaults = { arn = "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-0123" }
  }
}

variables {
  cluster_id     = "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b"
  job_id         = "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4c"
  name           = "prod"
  region         = "eu-west-1"
  instance_type  = "t3.large"
  disk_size_gb   = 50
  agent_count    = 2
  ssh_public_key = "ssh-ed25519 AAAA"
  admin_ranges   = ["203.0.113.0/24", "2001:db8::/32"]
  public_url     = "https://binnacle.example/"
  k3s_version    = "v1.37.1+k3s1"
  k3s_sha256     = { x86_64 = "0", aarch64 = "1" }
  node_tokens    = { "control-plane" = "token-0", "agent-1" = "token-1", "agent-2" = "token-2" }
  report_tokens  = { "control-plane" = "report-0", "agent-1" = "report-1", "agent-2" = "report-2" }
}

run "a_whole_cluster" {
  command = plan

  assert {
    condition     = [for subnet in aws_subnet.public : subnet.availability_zone] == ["eu-west-1a", "eu-west-1c"]
    error_message = "The subnets are in two zones that offer the instance type."
  }
  assert {
    condition     = join(",", keys(aws_instance.agent)) == "agent-1,agent-2"
    error_message = "Agents are named by their number."
  }
  assert {
    condition = alltrue([
      for machine in concat([aws_instance.control_plane], values(aws_instance.agent)) :
      machine.root_block_device[0].encrypted && machine.root_block_device[0].volume_type == "gp3" &&
      machine.metadata_options[0].http_tokens == "required" && machine.metadata_options[0].http_put_response_hop_limit == 1
    ])
    error_message = "Disks are encrypted, and the metadata service asks for a session."
  }
  assert {
    condition = alltrue([
      for rule in concat(values(aws_vpc_security_group_ingress_rule.api), values(aws_vpc_security_group_ingress_rule.ssh)) :
      contains(var.admin_ranges, coalesce(rule.cidr_ipv4, rule.cidr_ipv6))
    ])
    error_message = "The Kubernetes API and SSH are reached from the ranges of administrators only."
  }
}

run "no_ranges_close_the_cluster" {
  command = plan

  variables {
    admin_ranges = []
  }

  assert {
    condition     = length(aws_vpc_security_group_ingress_rule.api) + length(aws_vpc_security_group_ingress_rule.ssh) == 0
    error_message = "Without ranges nobody reaches the Kubernetes API."
  }
}

run "no_agents" {
  command = plan

  variables {
    agent_count = 0
    node_tokens = {}
  }

  assert {
    condition     = length(aws_instance.agent) == 0
    error_message = "A cluster can be its control plane alone."
  }
}

run "the_whole_internet_is_no_range" {
  command = plan

  variables {
    admin_ranges = ["0.0.0.0/0"]
  }

  expect_failures = [var.admin_ranges]
}

run "an_address_of_binnacle_cannot_carry_a_command" {
  command = plan

  variables {
    public_url = "https://binnacle.example/$(reboot)"
  }

  expect_failures = [var.public_url]
}

run "a_proxy_cannot_carry_a_password" {
  command = plan

  variables {
    proxy = "http://user:password@proxy.example"
  }

  expect_failures = [var.proxy]
}

run "a_proxy_cannot_carry_a_command" {
  command = plan

  variables {
    proxy    = "http://proxy.example/$(reboot)"
    no_proxy = ["a\nb"]
    k3s_url  = "https://mirror.example/'"
  }

  expect_failures = [var.proxy, var.no_proxy, var.k3s_url]
}

run "a_proxy_and_mirrors" {
  command = plan

  variables {
    proxy               = "http://${join("", [for index in range(193) : "p"])}"
    no_proxy            = [for index in range(16) : format("%060d", index)]
    k3s_url             = "https://${join("", [for index in range(192) : "k"])}"
    k3s_images_sha256   = { x86_64 = sha256("x86_64"), aarch64 = sha256("aarch64") }
    chart_repository    = "https://charts.example.com"
    has_ca_certificates = true
    snapshot_bucket     = "snapshots"
  }

  assert {
    condition     = length(nonsensitive(local.control_plane_user_data)) < 16384
    error_message = "User data is shorter than 16 KB with the longest values."
  }
  assert {
    condition = alltrue([
      for exception in ["localhost", "169.254.169.254", "10.64.0.0/16", "10.42.0.0/15", ".svc", ".cluster.local"] :
      contains(split(",", local.no_proxy), exception)
    ])
    error_message = "What the cluster needs is reached without the proxy."
  }
  assert {
    condition = alltrue([
      for manifest in [local.cloud_controller, split("---\n", local.disks)[0]] :
      yamldecode(manifest).spec.repo == "https://charts.example.com" &&
      yamldecode(manifest).spec.repoCAConfigMap.name == "binnacle-ca-certificates"
    ])
    error_message = "Charts come from the repository that is given, whose certificate is trusted."
  }
  assert {
    condition = (
      { for each in yamldecode(yamldecode(local.cloud_controller).spec.valuesContent).env : each.name => each.value }
      == { HTTP_PROXY = var.proxy, HTTPS_PROXY = var.proxy, NO_PROXY = local.no_proxy }
    )
    error_message = "The cloud controller goes through the proxy."
  }
  assert {
    condition = (
      yamldecode(yamldecode(split("---\n", local.disks)[0]).spec.valuesContent).proxy
      == { http_proxy = var.proxy, no_proxy = local.no_proxy }
    )
    error_message = "The driver of volumes goes through the proxy."
  }
}

run "a_type_of_one_zone_is_refused" {
  command = plan

  override_data {
    target = data.aws_ec2_instance_type_offerings.zones
    values = { locations = ["eu-west-1a"] }
  }

  expect_failures = [aws_vpc.cluster]
}

run "a_role_with_a_boundary" {
  command = plan

  variables {
    permissions_boundary = "arn:aws:iam::123456789012:policy/binnacle-boundary"
  }

  assert {
    condition     = aws_iam_role.control_plane.permissions_boundary == "arn:aws:iam::123456789012:policy/binnacle-boundary"
    error_message = "The role of the control plane has the boundary."
  }
}

run "created" {
  command = apply
}

run "a_new_image_and_new_tokens_are_for_new_machines" {
  command = plan

  variables {
    job_id      = "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4d"
    agent_count = 3
    node_tokens = { "agent-3" = "token-3" }
  }

  override_data {
    target = data.aws_ami.ubuntu
    values = { id = "ami-0fedcba9876543210" }
  }

  assert {
    condition = alltrue([
      for machine in [aws_instance.control_plane, aws_instance.agent["agent-1"], aws_instance.agent["agent-2"]] :
      machine.ami == "ami-0123456789abcdef0"
    ])
    error_message = "Machines that exist keep their image."
  }
  assert {
    condition     = aws_instance.agent["agent-3"].ami == "ami-0fedcba9876543210"
    error_message = "New machines have the new image."
  }
}
