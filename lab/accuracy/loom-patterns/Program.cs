using System;
using System.Net;
using System.Text;
using System.Threading;

namespace LoomPatterns
{
    public static class Program
    {
        public static void Main()
        {
            using var door = new HttpListener();
            door.Prefixes.Add("http://" + Environment.GetEnvironmentVariable("ADDR") + "/");
            door.Start();
            var hall = new Hall(24);
            new Thread(new Archive().Keep) { IsBackground = true, Name = "foreman" }.Start();
            for (int n = 1; n < 16; n++)
                new Thread(() => Receive(door, hall)) { IsBackground = true, Name = "porter " + n }.Start();
            Receive(door, hall);
        }

        static void Receive(HttpListener door, Hall hall)
        {
            while (true)
            {
                HttpListenerContext visit = door.GetContext();
                string path = visit.Request.Url.AbsolutePath;
                byte[] body = Encoding.ASCII.GetBytes(hall.Weave(int.Parse(path.Substring(path.LastIndexOf('/') + 1))));
                visit.Response.ContentLength64 = body.Length;
                try
                {
                    visit.Response.OutputStream.Write(body, 0, body.Length);
                    visit.Response.Close();
                }
                catch (HttpListenerException)
                {
                    // the visitor has left
                }
            }
        }
    }
}
