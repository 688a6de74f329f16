package main

// programs are all programs; those that are fetched quickly come first.
var programs = []program{caddy, etcd, victoriametrics, nats, influxdb, prometheus, tomcat, jetty, zookeeper, artemis, azmcp, raven}
