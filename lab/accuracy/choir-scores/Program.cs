using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading.Tasks;

namespace ChoirScores
{
    public static class Program
    {
        public static async Task Main()
        {
            var library = new Library();
            var door = new TcpListener(IPEndPoint.Parse(Environment.GetEnvironmentVariable("ADDR")));
            door.Start(256);
            while (true)
            {
                TcpClient singer = await door.AcceptTcpClientAsync();
                singer.NoDelay = true;
                _ = Talk(singer, library);
            }
        }

        static async Task Talk(TcpClient singer, Library library)
        {
            using (singer)
            {
                NetworkStream stream = singer.GetStream();
                var lines = new StreamReader(stream, Encoding.ASCII);
                try
                {
                    while (await lines.ReadLineAsync() is string first)
                    {
                        for (string header = first; !string.IsNullOrEmpty(header);)
                            header = await lines.ReadLineAsync();
                        string path = first.Split(' ')[1];
                        string score = library.Print(int.Parse(path.Substring(path.LastIndexOf('/') + 1)));
                        string body = "score of " + score.Length + " signs, " + string.GetHashCode(score.AsSpan(0, 200)) % 97 + "\n";
                        await stream.WriteAsync(Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nContent-Length: " + body.Length + "\r\n\r\n" + body));
                    }
                }
                catch (IOException)
                {
                    // the singer has left
                }
            }
        }
    }
}
