import { describe, expect, test } from "vitest";
import { repositoryHost, repositoryProblem } from "./repository-url.ts";

const NOT_PUBLIC = "The address is not a public one";
const ALLOWED = ["charts.internal", "10.0.0.7:5000"];

describe("the address of a chart repository", () => {
  test.each([
    "https://charts.example.com",
    "https://charts.example.com/stable?ref=main",
    "oci://ghcr.io/acme/charts",
    "OCI://ghcr.io/acme",
    "https://1.1.1.1/",
    "http://charts.internal/",
    "http://charts.internal:8080/x",
    "https://10.0.0.7:5000",
    "oci://10.0.0.7:5000/charts",
  ])("[CS1] the repository address %s is taken", (repo) => {
    expect(repositoryProblem(repo, ALLOWED)).toBeNull();
  });

  test.each([
    ["http://charts.example.com", "http:// is for hosts on the allow-list"],
    ["http://1.1.1.1/", "http:// is for hosts on the allow-list"],
    ["http://169.254.169.254/latest/meta-data/", NOT_PUBLIC],
    ["https://169.254.169.254/", NOT_PUBLIC],
    ["oci://169.254.169.254/charts", NOT_PUBLIC],
    ["https://127.1/", NOT_PUBLIC],
    ["oci://0x7f.1/charts", NOT_PUBLIC],
    ["oci://2130706433/charts", NOT_PUBLIC],
    ["https://[::1]/", NOT_PUBLIC],
    ["oci://[::ffff:10.0.0.1]/", NOT_PUBLIC],
    ["https://10.0.0.7/", NOT_PUBLIC],
    ["https://localhost:6443", NOT_PUBLIC],
    ["https://api.localhost./", NOT_PUBLIC],
    ["https://ada:s3cret@charts.example.com", "must not hold a user name or a password"],
    ["oci://ada@ghcr.io/acme", "must not hold a user name or a password"],
    ["file:///etc", "must begin with https:// or oci://"],
    ["ftp://charts.example.com", "must begin with https:// or oci://"],
    ["/var/charts", "must begin with https:// or oci://"],
    ["https://", "must begin with https:// or oci://"],
    ["", "must begin with https:// or oci://"],
  ])("[CS1] the repository address %s is refused", (repo, problem) => {
    expect(repositoryProblem(repo, ALLOWED)).toContain(problem);
    expect(repositoryProblem(repo, ALLOWED)).not.toContain("s3cret");
  });

  test("[CS5] messages name a repository by its host alone", () => {
    expect(repositoryHost("oci://ghcr.io:443/acme")).toBe("ghcr.io");
    expect(repositoryHost("https://ada:s3cret@charts.example.com:8443/x?token=t")).toBe("charts.example.com:8443");
  });
});
