// The camera of the machine that shows the page: frames, each asked for when the one before is answered.

const QUALITY = 0.9; // of the JPEG of a frame

/** Starts the camera; `look` is given each frame, a File, and waited for. Gives a function that stops it. */
export async function watch(look) {
  if (!navigator.mediaDevices?.getUserMedia) throw new Error("The browser gives no camera to this page; it must come from localhost or by https.");
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" }, audio: false });
  } catch (error) {
    throw new Error(error.name === "NotAllowedError" ? "The camera was not allowed." : `There is no camera: ${error.message}`);
  }
  const video = document.createElement("video"), canvas = document.createElement("canvas");
  let running = true;
  video.srcObject = stream;
  video.muted = video.playsInline = true;
  await video.play();
  (async () => {
    while (running) {
      [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
      canvas.getContext("2d").drawImage(video, 0, 0);
      const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
      if (!running) break;
      if (blob) await look(new File([blob], "camera.jpg", { type: "image/jpeg" }));
      await new Promise(requestAnimationFrame);
    }
  })();
  return () => {
    running = false;
    for (const track of stream.getTracks()) track.stop();
  };
}
