# Each resource can be imported by one id that is found by its tag or its name. Associations cannot, so the route table
# and the security group that come with the VPC are adopted instead: to create these again is not an error.

data "aws_availability_zones" "available" {
  state = "available"

  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

data "aws_ec2_instance_type_offerings" "zones" {
  location_type = "availability-zone"

  filter {
    name   = "instance-type"
    values = [var.instance_type]
  }
}

locals {
  zones = [
    for zone in sort(data.aws_availability_zones.available.names) : zone
    if contains(data.aws_ec2_instance_type_offerings.zones.locations, zone)
  ]
  subnets = { "zone-1" = 0, "zone-2" = 1 }
  ranges  = toset(var.admin_ranges)

  # The cloud controller and the driver of volumes act only on what has this tag.
  kubernetes_tag  = "kubernetes.io/cluster/${var.cluster_id}"
  kubernetes_tags = { (local.kubernetes_tag) = "owned" }
}

resource "aws_vpc" "cluster" {
  cidr_block           = var.network_range
  enable_dns_support   = true
  enable_dns_hostnames = true

  tags = {
    Name               = "binnacle-${var.name}"
    "binnacle:address" = "aws_vpc.cluster"
  }

  lifecycle {
    precondition {
      condition     = length(local.zones) >= 2
      error_message = "The instance type ${var.instance_type} is not offered in two zones of ${var.region}."
    }
  }
}

resource "aws_internet_gateway" "cluster" {
  vpc_id = aws_vpc.cluster.id

  tags = {
    Name               = "binnacle-${var.name}"
    "binnacle:address" = "aws_internet_gateway.cluster"
  }
}

resource "aws_default_route_table" "cluster" {
  default_route_table_id = aws_vpc.cluster.default_route_table_id

  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.cluster.id
  }

  tags = {
    Name               = "binnacle-${var.name}"
    "binnacle:address" = "aws_default_route_table.cluster"
  }
}

resource "aws_subnet" "public" {
  for_each = local.subnets

  vpc_id                  = aws_vpc.cluster.id
  cidr_block              = cidrsubnet(var.network_range, 4, each.value)
  availability_zone       = try(local.zones[each.value], null)
  map_public_ip_on_launch = true

  tags = merge(local.kubernetes_tags, {
    Name                     = "binnacle-${var.name}-${each.key}"
    "binnacle:address"       = "aws_subnet.public/${each.key}"
    "kubernetes.io/role/elb" = "1"
  })

  lifecycle {
    # A zone that AWS adds later must not move the subnets, and all machines with them.
    ignore_changes = [availability_zone, cidr_block]
  }
}

# For the control plane alone, so that nothing else ever has the address that its agents join: not while its machine is
# replaced either. Without the tag of the cluster it gets no load balancers.
resource "aws_subnet" "control_plane" {
  vpc_id                  = aws_vpc.cluster.id
  cidr_block              = cidrsubnet(var.network_range, 12, 512)
  availability_zone       = try(local.zones[0], null)
  map_public_ip_on_launch = true

  tags = {
    Name               = "binnacle-${var.name}-control-plane"
    "binnacle:address" = "aws_subnet.control_plane"
  }

  lifecycle {
    ignore_changes = [availability_zone, cidr_block]
  }
}

# Closed in both directions, so that nothing is reachable because somebody forgot to name a group.
resource "aws_default_security_group" "cluster" {
  vpc_id = aws_vpc.cluster.id

  tags = {
    Name               = "binnacle-${var.name}-default"
    "binnacle:address" = "aws_default_security_group.cluster"
  }
}

resource "aws_security_group" "nodes" {
  name        = "binnacle-${var.cluster_id}"
  description = "The machines of a cluster of Binnacle"
  vpc_id      = aws_vpc.cluster.id

  tags = merge(local.kubernetes_tags, {
    Name               = "binnacle-${var.name}"
    "binnacle:address" = "aws_security_group.nodes"
  })
}

# The machines among themselves.
resource "aws_vpc_security_group_ingress_rule" "nodes" {
  security_group_id            = aws_security_group.nodes.id
  ip_protocol                  = "-1"
  referenced_security_group_id = aws_security_group.nodes.id

  tags = { "binnacle:address" = "aws_vpc_security_group_ingress_rule.nodes" }
}

resource "aws_vpc_security_group_ingress_rule" "api" {
  for_each = local.ranges

  security_group_id = aws_security_group.nodes.id
  description       = "The Kubernetes API"
  ip_protocol       = "tcp"
  from_port         = 6443
  to_port           = 6443
  cidr_ipv4         = strcontains(each.value, ":") ? null : each.value
  cidr_ipv6         = strcontains(each.value, ":") ? each.value : null

  tags = { "binnacle:address" = "aws_vpc_security_group_ingress_rule.api/${each.key}" }
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  for_each = local.ranges

  security_group_id = aws_security_group.nodes.id
  description       = "SSH"
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
  cidr_ipv4         = strcontains(each.value, ":") ? null : each.value
  cidr_ipv6         = strcontains(each.value, ":") ? each.value : null

  tags = { "binnacle:address" = "aws_vpc_security_group_ingress_rule.ssh/${each.key}" }
}

resource "aws_vpc_security_group_egress_rule" "all" {
  security_group_id = aws_security_group.nodes.id
  description       = "To anywhere"
  ip_protocol       = "-1"
  cidr_ipv4         = "0.0.0.0/0"

  tags = { "binnacle:address" = "aws_vpc_security_group_egress_rule.all" }
}
