using System;
using System.Buffers.Text;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using System.Xml;

namespace Unstall.Collections
{
    /// <summary>
    /// A stream that writes what is written to it as base64, as it comes: to an <see cref="XmlWriter"/>, a
    /// <see cref="TextWriter"/> or another stream. An answer that carries JSON in base64 needs no array of the whole
    /// JSON then, nor a string of it, both of which would be large objects.
    /// </summary>
    /// <remarks>
    /// <para>Three bytes are four characters, so one or two bytes wait for more: they are written when the stream is
    /// disposed, which must be done before the writer goes on. <see cref="Flush"/> writes all others.</para>
    /// <para>What it writes to stays open, since base64 is mostly a part of something, unless it is told otherwise.</para>
    /// <para>It holds 7 KB, whatever goes through.</para>
    /// </remarks>
    public sealed class Base64Stream : Stream
    {
        const int BufferLength = 3 * 1024;

        readonly byte[] _buffer = new byte[BufferLength];
        int _length;
        readonly ISink _sink;
        readonly bool _leaveOpen;
        bool _disposed;

        /// <summary>Writes into the element or attribute that an XML writer is at.</summary>
        /// <param name="writer">The writer. One that is awaited must allow it (<see cref="XmlWriterSettings.Async"/>).</param>
        /// <param name="leaveOpen">Whether the writer stays open at the end.</param>
        /// <exception cref="ArgumentNullException"><paramref name="writer"/> is null.</exception>
        public Base64Stream(XmlWriter writer, bool leaveOpen = true)
        {
            if (writer == null) Throw.Null(nameof(writer));
            _sink = new XmlSink(writer!);
            _leaveOpen = leaveOpen;
        }

        /// <summary>Writes characters.</summary>
        /// <param name="writer">To where.</param>
        /// <param name="leaveOpen">Whether the writer stays open at the end.</param>
        /// <exception cref="ArgumentNullException"><paramref name="writer"/> is null.</exception>
        public Base64Stream(TextWriter writer, bool leaveOpen = true)
        {
            if (writer == null) Throw.Null(nameof(writer));
            _sink = new TextSink(writer!);
            _leaveOpen = leaveOpen;
        }

        /// <summary>Writes ASCII.</summary>
        /// <param name="stream">To where.</param>
        /// <param name="leaveOpen">Whether the stream stays open at the end.</param>
        /// <exception cref="ArgumentNullException"><paramref name="stream"/> is null.</exception>
        /// <exception cref="ArgumentException">The stream cannot be written.</exception>
        public Base64Stream(Stream stream, bool leaveOpen = true)
        {
            if (stream == null) Throw.Null(nameof(stream));
            if (!stream!.CanWrite) throw new ArgumentException("Stream was not writable.", nameof(stream));
            _sink = new StreamSink(stream);
            _leaveOpen = leaveOpen;
        }

        /// <inheritdoc/>
        public override bool CanWrite => !_disposed;

        /// <inheritdoc/>
        public override bool CanRead => false;

        /// <inheritdoc/>
        public override bool CanSeek => false;

        /// <inheritdoc/>
        public override long Length => throw new NotSupportedException();

        /// <inheritdoc/>
        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        /// <inheritdoc/>
        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        /// <inheritdoc/>
        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        /// <inheritdoc/>
        public override void SetLength(long value) => throw new NotSupportedException();

        /// <inheritdoc/>
        public override void WriteByte(byte value)
        {
            Check();
            _buffer[_length++] = value;
            if (_length == BufferLength) WriteOut(_length);
        }

        /// <inheritdoc/>
        public override void Write(byte[] buffer, int offset, int count)
        {
            Check(buffer, offset, count);
            Take(buffer.AsSpan(offset, count));
        }

#if !NETSTANDARD2_0
        /// <inheritdoc/>
        public override void Write(ReadOnlySpan<byte> buffer)
        {
            Check();
            Take(buffer);
        }

        /// <inheritdoc/>
        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Check();
            while (!buffer.IsEmpty)
            {
                cancellationToken.ThrowIfCancellationRequested();
                int n = Fill(buffer.Span);
                buffer = buffer.Slice(n);
                if (_length == BufferLength) await WriteOutAsync(_length, cancellationToken).ConfigureAwait(false);
            }
        }

        /// <inheritdoc/>
        public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
        {
            Check(buffer, offset, count);
            return WriteAsync(new ReadOnlyMemory<byte>(buffer, offset, count), cancellationToken).AsTask();
        }

        /// <inheritdoc/>
        public override async ValueTask DisposeAsync()
        {
            if (_disposed) return;
            if (_length > 0) await WriteOutAsync(_length, default).ConfigureAwait(false);
            _disposed = true;
            if (!_leaveOpen) _sink.Dispose();
            Dispose(false);
            GC.SuppressFinalize(this);
        }
#endif

        /// <summary>Writes all but the last one or two bytes, if their number is not a multiple of three, and flushes
        /// what it writes to.</summary>
        public override void Flush()
        {
            Check();
            WriteOut(_length / 3 * 3);
            _sink.Flush();
        }

        /// <inheritdoc cref="Flush"/>
        public override async Task FlushAsync(CancellationToken cancellationToken)
        {
            Check();
            await WriteOutAsync(_length / 3 * 3, cancellationToken).ConfigureAwait(false);
            await _sink.FlushAsync(cancellationToken).ConfigureAwait(false);
        }

        /// <inheritdoc/>
        protected override void Dispose(bool disposing)
        {
            if (disposing && !_disposed)
            {
                if (_length > 0) WriteOut(_length);
                _disposed = true;
                if (!_leaveOpen) _sink.Dispose();
            }
            base.Dispose(disposing);
        }

        void Check()
        {
            if (_disposed) throw new ObjectDisposedException(nameof(Base64Stream));
        }

        void Check(byte[] buffer, int offset, int count)
        {
            if (buffer == null) Throw.Null(nameof(buffer));
            if (offset < 0) Throw.OutOfRange(nameof(offset));
            if (count < 0) Throw.OutOfRange(nameof(count));
            if (buffer!.Length - offset < count) Throw.TooShort();
            Check();
        }

        void Take(ReadOnlySpan<byte> from)
        {
            while (!from.IsEmpty)
            {
                from = from.Slice(Fill(from));
                if (_length == BufferLength) WriteOut(_length);
            }
        }

        int Fill(ReadOnlySpan<byte> from)
        {
            int n = Math.Min(from.Length, BufferLength - _length);
            from.Slice(0, n).CopyTo(_buffer.AsSpan(_length));
            _length += n;
            return n;
        }

        void WriteOut(int n)
        {
            if (n == 0) return;
            _sink.Write(_buffer, n);
            Keep(n);
        }

        async Task WriteOutAsync(int n, CancellationToken cancellationToken)
        {
            if (n == 0) return;
            await _sink.WriteAsync(_buffer, n, cancellationToken).ConfigureAwait(false);
            Keep(n);
        }

        void Keep(int written)
        {
            _length -= written;
            Buffer.BlockCopy(_buffer, written, _buffer, 0, _length);
        }

        /// <summary>What base64 is written to: whole triples, but at the end.</summary>
        interface ISink : IDisposable
        {
            void Write(byte[] bytes, int n);
            Task WriteAsync(byte[] bytes, int n, CancellationToken cancellationToken);
            void Flush();
            Task FlushAsync(CancellationToken cancellationToken);
        }

        sealed class XmlSink : ISink
        {
            readonly XmlWriter _writer;
            internal XmlSink(XmlWriter writer) => _writer = writer;
            public void Write(byte[] bytes, int n) => _writer.WriteBase64(bytes, 0, n);
            public Task WriteAsync(byte[] bytes, int n, CancellationToken cancellationToken) => _writer.WriteBase64Async(bytes, 0, n);
            public void Flush() => _writer.Flush();
            public Task FlushAsync(CancellationToken cancellationToken) => _writer.FlushAsync();
            public void Dispose() => _writer.Dispose();
        }

        sealed class TextSink : ISink
        {
            readonly TextWriter _writer;
            readonly char[] _chars = new char[BufferLength / 3 * 4];
            internal TextSink(TextWriter writer) => _writer = writer;
            public void Write(byte[] bytes, int n) => _writer.Write(_chars, 0, Convert.ToBase64CharArray(bytes, 0, n, _chars, 0));
            public Task WriteAsync(byte[] bytes, int n, CancellationToken cancellationToken) => _writer.WriteAsync(_chars, 0, Convert.ToBase64CharArray(bytes, 0, n, _chars, 0));
            public void Flush() => _writer.Flush();
            public Task FlushAsync(CancellationToken cancellationToken) => _writer.FlushAsync();
            public void Dispose() => _writer.Dispose();
        }

        sealed class StreamSink : ISink
        {
            readonly Stream _stream;
            readonly byte[] _ascii = new byte[BufferLength / 3 * 4];
            internal StreamSink(Stream stream) => _stream = stream;
            public void Write(byte[] bytes, int n) => _stream.Write(_ascii, 0, Encode(bytes, n));
            public Task WriteAsync(byte[] bytes, int n, CancellationToken cancellationToken) => _stream.WriteAsync(_ascii, 0, Encode(bytes, n), cancellationToken);
            public void Flush() => _stream.Flush();
            public Task FlushAsync(CancellationToken cancellationToken) => _stream.FlushAsync(cancellationToken);
            public void Dispose() => _stream.Dispose();

            int Encode(byte[] bytes, int n)
            {
                Base64.EncodeToUtf8(bytes.AsSpan(0, n), _ascii, out _, out int written);
                return written;
            }
        }
    }
}
