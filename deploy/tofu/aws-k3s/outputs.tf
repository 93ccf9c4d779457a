# The state has all of these too. No output is a secret.

output "control_plane" {
  description = "The machine that serves the Kubernetes API."
  value = {
    id         = aws_instance.control_plane.id
    public_ip  = aws_instance.control_plane.public_ip
    private_ip = aws_instance.control_plane.private_ip
  }
}

output "agents" {
  description = "The other machines, by the name of the node."
  value = {
    for name, agent in aws_instance.agent : name => { id = agent.id, private_ip = agent.private_ip }
  }
}

output "kubernetes_version" {
  value = var.k3s_version
}
