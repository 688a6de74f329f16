using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading.Tasks;

namespace PinVault
{
    // Checks PINs over HTTP spoken by hand on raw sockets. A PIN is stretched by many rounds
    // of mixing, each time. With FAULT=0 a tenth of the rounds must do.
    public static class Program
    {
        static readonly int Rounds = Environment.GetEnvironmentVariable("FAULT") == "0" ? 200 : 2000;

        public static async Task Main()
        {
            string[] at = Environment.GetEnvironmentVariable("ADDR").Split(':');
            var listener = new TcpListener(IPAddress.Parse(at[0]), int.Parse(at[1]));
            listener.Start(512);
            for (;;)
                _ = Serve(await listener.AcceptSocketAsync());
        }

        static async Task Serve(Socket socket)
        {
            socket.NoDelay = true;
            using var stream = new NetworkStream(socket, ownsSocket: true);
            var reader = new StreamReader(stream, Encoding.ASCII);
            try
            {
                while (await reader.ReadLineAsync() is string request)
                {
                    while (await reader.ReadLineAsync() is string header && header != "") { }
                    string pin = request.Split(' ')[1];
                    string body = Stretch(pin).ToString("x16") + "\n";
                    byte[] answer = Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + body.Length + "\r\n\r\n" + body);
                    await stream.WriteAsync(answer, 0, answer.Length);
                }
            }
            catch (IOException)
            {
                // the client is gone
            }
        }

        static ulong Stretch(string pin)
        {
            var block = new ulong[512];
            for (int i = 0; i < block.Length; i++)
                block[i] = (ulong)(pin[i % pin.Length] * 0x9e3779b97f4a7c15UL + (ulong)i);
            for (int round = 0; round < Rounds; round++)
                Mix(block);
            return block[7];
        }

        static void Mix(ulong[] block)
        {
            ulong carry = block[block.Length - 1];
            for (int i = 0; i < block.Length; i++)
            {
                ulong x = block[i] ^ carry;
                x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9UL;
                x = (x ^ (x >> 27)) * 0x94d049bb133111ebUL;
                block[i] = carry = x ^ (x >> 31);
            }
        }
    }
}
