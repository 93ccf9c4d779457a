# The same for Terraform, whose registry has builds of its own. It takes the place of .terraform.lock.hcl where Terraform runs.

provider "registry.terraform.io/hashicorp/aws" {
  version     = "6.49.0"
  constraints = "6.49.0"
  hashes = [
    "h1:/QO3VmlHjlNPkiSJSHcrII5yZZY/7QrcUrfq/12eiYk=",
    "h1:2WL0W+5V8B1JY1RJg0PlDTG2HHFhPXjhNzmpEnNT9z4=",
    "h1:2WtuaG0q7unW1Z8dwJmj1yxfexcmEpBFtv6IHMEMdSs=",
    "h1:7U/VmwMfGrALTdGn7oQtWS7CkEEGBXgQ/NhO1PDiNT0=",
    "h1:MJ20g5b3Leoj61UkPCxwJO8ReltnP6kLKAVG1hxWnV8=",
    "h1:NPu7dmezTMF2cQ3N1oKA3DbLEU4zc7ZLtgm35MgqI4g=",
    "h1:Rvc5VC30sIL91h+VFmqZd5yCIUiYDDZNb60PIOXiBjo=",
    "h1:T0hNEJswqL863ugoS/mlCNpSprqhjyP7VOiQu3McJU4=",
    "h1:V5veJiTGg1ixYaAUux+IHOFBMfG/QPN/CoWzQ3f5M+M=",
    "h1:X/GPI+BpIz6np87slq6MDNXkZX60nLvrC5OG/JgNTOw=",
    "h1:gW/1w7xNATTgTXKN9Du926VKZ84YgV6BLJDTPimMYkk=",
    "h1:tijbk6K9J2XeFGDmXqPH0eTGq0cl47pTS6CV0rob0cs=",
    "h1:xi7AeopMSOv6C1mAr0AfvCfCQp2p/HhuZ+Mo7UpCmGg=",
    "h1:zBF6IqpUiJAszE5L4HpWuOgG6nSnqGRnwr08frehB40=",
    "zh:11a636bb415bf780f0ad300cab83d687aebdc51381112ae7b29862e0bee43017",
    "zh:2d6c4bb861c073d9900a2afc39cc1e38492c6996653e53c7a2083b526fb10ae9",
    "zh:49f7ee4a7488f3d31342c5e9dbb577c40e0847a0cab152a0082e9aeef45f5c0f",
    "zh:561283c9c9bd36b9d09832e50769b941eb45c43c6ab031f27c8bf78256af4af1",
    "zh:576bf944e66d097b29fc45b25a5bbc53e7d4e71a486e2cb126304cf77b51fe79",
    "zh:6c6bf8860773c121b9ca22743f733feea943f890fa3aba8740a59579dea16fc4",
    "zh:88b963a659e42daac7384a6abb99b3383f9f6c8abad5dedafcd443536b122b84",
    "zh:947e9404235ca094e39e7f3f464f99436320a168e1607c550e581fbc70553d48",
    "zh:9b12af85486a96aedd8d7984b0ff811a4b42e3d88dad1a3fb4c0b580d04fa425",
    "zh:a9c5a37bd1e5e81e85ad3dc3141f1b453b96e9cb8e500bc15bfb9c488fc95dcc",
    "zh:b7b8a028fb2eafb98c676f9438808318f7ff0ea76eba03a6653d0940848a31c7",
    "zh:be29f31827d6d5567aaec26034e6cceb994460446778ba1d0a435fc7ccd8a9f5",
    "zh:c24c60ecffe3a7d44c762e62a29a802aec604096715ad3110b7ca2207124eb3a",
    "zh:e2a247c5c7815437969e87cdce1f27f323eea75b97ed53f7605fef05d6406071",
    "zh:e590ce9aca3f4fd964f7bf908a24dc3bc88e0b03a8554ccc81b9edcc84690670",
  ]
}
