using System;
using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace MxChecker
{
    // Says whether mail to an address can be delivered: asks a name server, by a resolver of
    // its own over UDP that is awaited. Nothing is wrong here; the name server is slow at
    // times.
    public static class Program
    {
        public static void Main()
        {
            string[] at = Environment.GetEnvironmentVariable("ADDR_NAMES").Split(':');
            var resolver = new Resolver(new IPEndPoint(IPAddress.Parse(at[0]), int.Parse(at[1])));
            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.Map("/check", check => check.Run(async context =>
                {
                    string address = context.Request.Path.Value.Trim('/');
                    string domain = address.Substring(address.IndexOf('@') + 1);
                    IPAddress host = await resolver.Resolve(domain);
                    await context.Response.WriteAsync(address + (host == null ? " is nowhere\n" : " is at " + host + "\n"));
                })))
                .Build()
                .Run();
        }
    }

    public sealed class Resolver
    {
        readonly IPEndPoint server;

        public Resolver(IPEndPoint server) => this.server = server;

        // The first address, null without one.
        public async Task<IPAddress> Resolve(string domain)
        {
            using var socket = new Socket(server.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
            await socket.ConnectAsync(server);
            var packet = new byte[512];
            int length = Question(packet, domain);
            await socket.SendAsync(new ArraySegment<byte>(packet, 0, length), SocketFlags.None);
            int got = await socket.ReceiveAsync(new ArraySegment<byte>(packet), SocketFlags.None);
            int answers = BinaryPrimitives.ReadUInt16BigEndian(packet.AsSpan(6));
            return answers == 0 ? null : new IPAddress(packet.AsSpan(got - 4, 4));
        }

        // RFC 1035, 4.1: a header, and one question for an A record.
        static int Question(byte[] packet, string domain)
        {
            BinaryPrimitives.WriteUInt16BigEndian(packet, (ushort)Environment.TickCount);
            packet[2] = 1;
            packet[5] = 1;
            int at = 12;
            foreach (string label in domain.Split('.'))
            {
                packet[at++] = (byte)label.Length;
                at += Encoding.ASCII.GetBytes(label, 0, label.Length, packet, at);
            }
            packet[at + 2] = 1;
            packet[at + 4] = 1;
            return at + 5;
        }
    }
}
