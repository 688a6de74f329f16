package main

// programs are all, those that are got quickly first.
var programs = []program{caddy, etcd, victoriametrics, nats, influxdb, prometheus, tomcat, jetty, zookeeper, artemis, azmcp, raven}
